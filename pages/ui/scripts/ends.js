// Of a file above the limit only its ends go to the server, which then says what to do with its columns
const HEARD = new WeakSet()
export default function ({ data }) {
    const chosen = file => {
        if (file.size <= data.limit) return file
        const ends = [file.slice(0, data.head), file.slice(-data.head)]
        return new File(ends, file.name, { type: `${data.type}+${file.size}` })
    }
    const filled = (input, files) => {
        const held = new DataTransfer()
        for (const file of files) held.items.add(chosen(file))
        input.files = held.files
    }
    const large = files => [...files].some(file => file.size > data.limit)
    const place = document.querySelector(`.st-key-${CSS.escape(data.place)}`)
    if (!place || HEARD.has(place)) return
    HEARD.add(place)
    place.addEventListener("change", event => {
        if (event.target.type === "file" && large(event.target.files)) filled(event.target, event.target.files)
    }, true)
    place.addEventListener("drop", event => {
        const files = event.dataTransfer?.files ?? [], input = place.querySelector("input[type=file]")
        if (!input || !large(files)) return
        event.preventDefault()
        event.stopPropagation()
        filled(input, files)
        input.dispatchEvent(new Event("change", { bubbles: true }))
    }, true)
}
