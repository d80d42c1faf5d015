/** Notifications of the browser for questions of agents, while the page is hidden. A button asks for the permission. */
import { element } from '../dom.ts'
import { navigate } from '../router.ts'
import { button } from '../widgets.ts'
import type { Summary } from './summary.ts'

export class Notifications {
  /** The button that asks for the permission. Shown once a conversation runs, if the person has not decided yet. */
  readonly offer = element('div', { class: 'offer', hidden: true },
    button('Notify me of questions', () => this.#ask(), 'small'))

  /** Notifies the person of a new question while the page is hidden. `before` is the earlier summary, if known. */
  take(before: Summary | undefined, now: Summary): void {
    if (!('Notification' in window)) return
    const { permission } = Notification
    if (permission === 'default' && now.status === 'running') this.offer.hidden = false
    const isNew = now.status === 'waiting_for_confirmation' && before?.status !== now.status
    if (!isNew || !document.hidden || permission !== 'granted') return
    const shown = new Notification('An agent asks a question', { body: now.title.slice(0, 200), tag: now.id })
    shown.onclick = () => {
      window.focus()
      navigate(`/c/${now.id}`)
      shown.close()
    }
  }

  async #ask(): Promise<void> {
    await Notification.requestPermission()
    this.offer.hidden = true
  }
}
