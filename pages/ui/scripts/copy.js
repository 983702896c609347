export default function ({ data, parentElement }) {
    const [button, field, said] = ["button", "input", "small"].map(name => parentElement.querySelector(name))
    if (field.value !== data.text) { button.textContent = data.label; field.hidden = true; said.textContent = "" }
    field.value = data.text
    button.title = data.help
    button.onclick = async () => {
        try {
            await navigator.clipboard.writeText(data.text)
            button.textContent = "Link copied"
        } catch {
            field.hidden = false
            field.select()
        }
        said.textContent = data.note
    }
}
