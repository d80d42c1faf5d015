/**
 * The questions of an agent (pending confirmations). Their keys work only while a question has the focus, so that
 * nobody allows an action by accident.
 */
import { element, fill, type Child } from '../dom.ts'
import { bindKeys } from '../keys.ts'
import { type Members, objectAt, textAt } from '../values.ts'
import type { ConversationActions } from './actions.ts'
import { button, codeText } from './controls.ts'
import { describeCall } from './call-pieces.ts'
import { policyOf, statusOfState, type ConversationState } from './conversation-state.ts'
import { objectsAt } from './fields.ts'
import { commandView, pieceView } from './piece-view.ts'
import { diffView } from './diff-view.ts'
import { textNodes } from './text-nodes.ts'
import type { Item, StoredEvent } from './timeline.ts'
import { secondsText } from './words.ts'

export interface QuestionsOptions {
  readonly actions: ConversationActions
  readonly items: () => readonly Item[]
}

const forAll = 'Allow for this conversation'
const asksNoMore = 'The agent of this conversation asks no more'

export class QuestionsView {
  readonly root = element('section', { class: 'questions', 'aria-label': 'Questions of the agent', hidden: true })
  readonly #options: QuestionsOptions
  readonly #clock: number
  readonly #unbind: () => void
  #signature = ''
  #shown = ''
  #questions: readonly Members[] = []

  constructor(options: QuestionsOptions) {
    this.#options = options
    this.#clock = setInterval(() => this.#tick(), 1000)
    this.#unbind = bindKeys('A question that has the focus', [
      { key: 'a', about: 'Allow; all questions, if there are several', run: () => this.#use('.primary') },
      { key: 'd', about: 'Write a reason; Enter denies', run: () => this.#use('.answers input') },
    ])
  }

  /** Updates the questions if their ids or the policy changed, or the agent began or stopped waiting for an answer. */
  async show(state: ConversationState): Promise<void> {
    const pending = objectsAt(state.members, 'pending_confirmations').map((question) => textAt(question, 'id'))
    const isWaiting = statusOfState(state) === 'waiting_for_confirmation'
    const signature = `${isWaiting} ${pending.join(' ')} ${policyOf(state)}`
    if (signature === this.#signature) return
    this.#signature = signature
    const answer = isWaiting || pending.length > 0 ? await this.#options.actions.questions() : undefined
    if (signature !== this.#signature) return
    this.#questions = objectsAt(answer, 'items')
    this.#draw()
  }

  focus(): void {
    this.root.querySelector<HTMLElement>('.question')?.focus()
  }

  /**
   * Presses the button or focuses the field that matches `selector`. Looks in the focused question first, then in the
   * whole view. Returns false when no question has the focus.
   */
  #use(selector: string): boolean {
    const question = document.activeElement
    if (question?.matches('.question') !== true || !this.root.contains(question)) return false
    const control = question.querySelector(selector) ?? this.root.querySelector(selector)
    if (control instanceof HTMLButtonElement) control.click()
    if (control instanceof HTMLInputElement) control.focus()
    return true
  }

  close(): void {
    this.#unbind()
    clearInterval(this.#clock)
  }

  #draw(): void {
    const ids = this.#questions.map((question) => textAt(question, 'id')).join(' ')
    if (ids === this.#shown) return
    this.#shown = ids
    this.root.hidden = this.#questions.length === 0
    const isMany = this.#questions.length > 1
    const views = this.#questions.map((question) => this.#question(question, isMany))
    fill(this.root, views, isMany ? this.#forAll() : undefined)
    this.#tick()
    if (this.#questions.length === 0) return
    if (document.activeElement === document.body) this.focus()
  }

  #question(question: Members, isMany: boolean): HTMLElement {
    const action = this.#actionOf(question)
    const id = textAt(question, 'id')
    const risk = textAt(action?.body, 'security_risk')
    const deadline = textAt(question, 'deadline')
    const reason = element('input', {
      type: 'text', placeholder: 'Reason, for the agent (optional)', 'aria-label': 'Reason', dir: 'auto',
    })
    const deny = (): void => void this.#options.actions.answer(id, false, reason.value)
    const allow = (): void => void this.#options.actions.answer(isMany ? undefined : id, true, '')
    const always = (): void => void this.#allowAll(id)
    reason.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) deny()
    })
    const group = { class: 'question', tabindex: '-1', role: 'group', 'aria-label': 'The agent asks' }
    const clock = { class: 'deadline', 'data-deadline': deadline }
    return element('div', group,
      element('header', {}, element('strong', {}, 'May the agent do this?'),
        riskView(risk), deadline === '' ? undefined : element('span', clock)),
      element('div', { class: 'question-body' }, deedView(question, action)),
      element('div', { class: 'answers' },
        isMany ? undefined : button('primary', 'Allow', allow, { title: 'Key: a' }),
        isMany ? undefined : button('', forAll, always, { title: asksNoMore }), reason,
        button('deny', 'Deny', deny, { title: 'Key: d' })))
  }

  /** Returns the buttons that answer all questions together. */
  #forAll(): HTMLElement {
    const allow = (): void => void this.#options.actions.answer(undefined, true, '')
    const deny = (): void => void this.#options.actions.answer(undefined, false, '')
    return element('div', { class: 'answers all-answers' },
      button('primary', `Allow all ${this.#questions.length}`, allow), button('deny', 'Deny all', deny),
      button('', forAll, () => void this.#allowAll(undefined), { title: asksNoMore }))
  }

  async #allowAll(id: string | undefined): Promise<void> {
    const { actions } = this.#options
    if (await actions.setPolicy('NeverConfirm')) await actions.answer(id, true, '')
  }

  #actionOf(question: Members): StoredEvent | undefined {
    const id = textAt(question, 'action_id')
    const calls = this.#options.items().flatMap((item) => (item.type === 'calls' ? item.calls : []))
    return calls.findLast(({ action }) => action.id === id)?.action
  }

  #tick(): void {
    for (const place of this.root.querySelectorAll<HTMLElement>('[data-deadline]')) {
      const left = Date.parse(place.dataset['deadline'] ?? '') - Date.now()
      place.textContent = left > 0 ? `Denied without an answer in ${secondsText(left)}` : 'the time is over'
    }
  }
}

/** Draws the action that a question is about. Without `action`, draws the question's own members. */
function deedView(question: Members, action: StoredEvent | undefined): Child {
  const title = textAt(question, 'title')
  if (action !== undefined) {
    const view = describeCall({ action, result: undefined })
    const subject = view.pieces.some(({ type }) => type === 'command') ? '' : view.subject
    return [
      element('p', {}, element('span', { class: 'verb' }, textNodes(view.verb)), ' ', codeText(subject, 'subject')),
      view.pieces.map(pieceView),
    ]
  }
  const command = textAt(question, 'command')
  const diff = objectAt(question, 'diff')
  const path = textAt(diff, 'path')
  return [
    element('p', { dir: 'auto' }, textNodes(title)),
    command === '' ? undefined : commandView(command),
    path === '' ? undefined : diffView(path, textAt(diff, 'old_text'), textAt(diff, 'new_text')),
    objectsAt(question, 'locations').map((place) => element('p', {}, codeText(textAt(place, 'path')))),
  ]
}

function riskView(risk: string): Child {
  const name = risk === '' || risk === 'UNKNOWN' ? 'unknown' : risk.toLowerCase()
  return element('span', { class: `risk risk-${name}` }, `risk: ${name}`)
}
