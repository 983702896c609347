export default function ({ data }) {
    const { dataset } = document.querySelector(".stApp"), before = dataset.place
    if (before !== undefined && before !== data.place) {
        document.querySelector(".stMain").scrollTo(0, 0)
        // A phone has no room for menu and page: the menu closes once it has been used
        if (matchMedia("(max-width: 640px)").matches)
            document.querySelector(".stSidebar[data-collapsed=false] [data-testid=stSidebarCollapseButton] button")?.click()
    }
    dataset.place = data.place
}
