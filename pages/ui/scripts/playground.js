// Called again after every run of the page. The picture stays as it is if Python has the settings that it last reported,
// or later ones: a reader who continues dragging is ahead of Python. Other settings, for example of a link, replace it.
const OPEN = new WeakMap()
export default function ({ data, parentElement, setTriggerValue }) {
    const root = parentElement.querySelector(".root"), open = OPEN.get(root)
    const known = given => JSON.stringify(settled(data.told, given)), now = known(data.given)
    const at = open?.indexOf(now)
    if (at >= 0) return void open.splice(0, at)
    const reports = [now]
    OPEN.set(root, reports)
    playground(root, data.told, data.given, settings => {
        reports.push(known(settings))
        setTriggerValue("changed", settings)
    })
}
