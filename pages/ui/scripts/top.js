export default function ({ data }) {
    const { dataset } = document.querySelector(".stApp"), before = dataset.place
    if (before !== undefined && before !== data.place) document.querySelector(".stMain").scrollTo(0, 0)
    dataset.place = data.place
}
