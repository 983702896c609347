export default function ({ data, parentElement, setTriggerValue }) {
    const page = document.querySelector(".stApp"), drawn = parentElement.dataset
    const look = () => {
        const [red, green, blue] = getComputedStyle(page).backgroundColor.match(/\d+/g).map(Number)
        if (String(red + green + blue < 384) !== drawn.dark) setTriggerValue("other", true)
    }
    drawn.dark = data.dark
    const watch = new MutationObserver(look)
    watch.observe(page, { attributeFilter: ["class"] })
    return () => watch.disconnect()
}
