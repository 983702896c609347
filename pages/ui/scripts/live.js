export default function ({ parentElement }) {
    parentElement.closest(".stVerticalBlock").setAttribute("aria-live", "polite")
}
