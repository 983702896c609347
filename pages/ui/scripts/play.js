// Plays a setting of an experiment: one step at a time, the next step only after the picture of the last one is there.

const SPEEDS = [["Slow", 3000], ["Normal", 1500], ["Fast", 500]]  // milliseconds per picture
const STILL = matchMedia("(prefers-reduced-motion: reduce)")

class Player {
    constructor(root) {
        const at = name => root.querySelector(`.${name}`)
        Object.assign(this, { back: at("back"), play: at("play"), forth: at("forth"), speed: at("speed"),
            said: at("said"), note: at("note"), bar: at("bar") })
        for (const [name, pause] of SPEEDS) this.speed.add(new Option(name, pause, pause === 1500, pause === 1500))
        this.back.onclick = () => { this.pause(); this.go(this.data.index - 1) }
        this.forth.onclick = () => { this.pause(); this.go(this.data.index + 1) }
        this.play.onclick = () => (this.playing ? this.pause() : this.start())
        this.speed.onchange = () => this.playing && this.soon()
        this.bar.onkeydown = event => {
            const act = { ArrowLeft: this.back, ArrowRight: this.forth }[event.key]
            if (!act || event.target === this.speed) return
            event.preventDefault()
            event.stopPropagation()  // the arrow keys also move through a lesson
            if (!act.disabled) act.click()
        }
        STILL.addEventListener("change", () => { this.pause(); this.data && this.show() })
    }

    take(data, tell) {
        Object.assign(this, { data, tell })
        if (data.answered >= (this.asked ?? 0)) this.asked = null  // the requested picture is on the page
        this.show()
        if (this.playing && this.asked === null) this.soon()
    }

    show() {
        const { values, index, label, answered } = this.data, wait = this.asked !== null && this.asked !== undefined
        const counted = values.every((value, i) => Number(value) === Number(values[0]) + i)  // whole numbers in a row: no place among them
        this.said.textContent = counted ? `${label}: ${values[index]} of ${values.at(-1)}` : `${label}: ${values[index]} (${index + 1} of ${values.length})`
        this.back.disabled = index === 0 || wait
        this.forth.disabled = index === values.length - 1 || wait
        this.play.disabled = STILL.matches
        this.play.textContent = this.playing ? "Pause" : "Play"
        this.play.setAttribute("aria-pressed", String(Boolean(this.playing)))
        this.note.hidden = !STILL.matches
        this.bar.dataset.answered = answered
    }

    start() {
        if (STILL.matches) return
        this.playing = true
        this.show()
        this.go(this.data.index === this.data.values.length - 1 ? 0 : this.data.index + 1)
    }

    pause() {
        clearTimeout(this.timer)
        this.playing = false
        if (this.data) this.show()
    }

    soon() {
        clearTimeout(this.timer)
        if (this.data.index === this.data.values.length - 1) return this.pause()
        this.timer = setTimeout(() => this.go(this.data.index + 1), Number(this.speed.value))
    }

    go(index) {
        if ((this.asked ?? null) !== null || index < 0 || index >= this.data.values.length) return
        this.asked = this.data.answered + 1
        this.show()
        this.tell({ n: this.asked, index })
    }
}

const PLAYERS = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
    if (!PLAYERS.has(parentElement)) PLAYERS.set(parentElement, new Player(parentElement))
    PLAYERS.get(parentElement).take(data, step => setTriggerValue("step", step))
    return () => PLAYERS.get(parentElement)?.pause()
}
