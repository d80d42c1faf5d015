/** Elements that several views share: fields with labels, buttons that run an action, and notices. */
import { issuesOf, problemOf, type Answer } from './api.ts'
import { element, fill, setAttributes, type Child } from './dom.ts'

let fields = 0

/** Returns a control with its label and an optional hint. */
export function field(label: string, control: HTMLElement, hint?: Child): HTMLElement {
  const id = `field-${++fields}`
  control.id = id
  const note = hint === undefined ? undefined : element('p', { class: 'hint', id: `${id}-hint` }, hint)
  if (note !== undefined) control.setAttribute('aria-describedby', note.id)
  const isCheck = control instanceof HTMLInputElement && control.type === 'checkbox'
  const words = element('label', { for: id }, label)
  return isCheck
    ? element('div', { class: 'field check' }, control, words, note)
    : element('div', { class: 'field' }, words, control, note)
}

/** The controls of a form by the names of the request's members. */
export type Controls = Readonly<Record<string, HTMLElement>>

/** Shows a problem at a control, until its value changes. Screen readers read the problem with the control. */
export function tellAt(control: HTMLElement, problem: string): void {
  const id = `${control.id}-fault`
  document.getElementById(id)?.remove()
  const described = control.getAttribute('aria-describedby')
  setAttributes(control, { 'aria-invalid': 'true', 'aria-describedby': `${described ?? ''} ${id}`.trim() })
  const note = element('p', { class: 'fault', id }, problem)
  control.closest('.field')?.append(note)
  control.addEventListener('input', () => {
    note.remove()
    setAttributes(control, { 'aria-invalid': undefined, 'aria-describedby': described ?? undefined })
  }, { once: true })
}

/** Shows the problems of a response at their controls. Without problems, or if one has no control, returns false. */
function tellAtControls(answer: Answer, controls: Controls): boolean {
  const found = issuesOf(answer).map(({ names, text }) => {
    const name = names.findLast((one) => Object.hasOwn(controls, one))
    return { control: name === undefined ? undefined : controls[name], text }
  })
  if (found.length === 0 || found.some(({ control }) => control === undefined)) return false
  for (const { control, text } of found) if (control !== undefined) tellAt(control, text)
  found[0]?.control?.focus()
  return true
}

/** Returns a button that is disabled while its action runs. */
export function button(label: Child, action: () => Promise<void> | void, kind = ''): HTMLButtonElement {
  const made = element('button', { type: 'button', class: kind }, label)
  made.addEventListener('click', () => void whileBusy(made, action))
  return made
}

/** Returns a form that runs `action` when it is submitted. Its submit button is disabled while `action` runs. */
export function form(action: () => Promise<void> | void, ...children: readonly Child[]): HTMLFormElement {
  const made = element('form', {}, ...children)
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    const sender = made.querySelector('button:not([type=button])')
    if (sender instanceof HTMLButtonElement) void whileBusy(sender, action)
  })
  return made
}

async function whileBusy(target: HTMLButtonElement, action: () => Promise<void> | void): Promise<void> {
  if (target.disabled) return
  target.disabled = true
  try {
    await action()
  } finally {
    target.disabled = false
  }
}

/** A line with the outcome of an action. Screen readers announce it. */
export class Status {
  readonly element = element('p', { class: 'outcome', role: 'status' })

  tell(text: string): void {
    this.element.classList.remove('fault')
    fill(this.element, text)
  }

  fail(text: string): void {
    this.element.classList.add('fault')
    fill(this.element, text)
  }

  /**
   * Shows `text` for status 2xx, else the problem of the response. If `controls` has a control for each problem, the
   * problems are shown at the controls. Returns true for status 2xx.
   */
  settle(answer: Answer, text: string, controls: Controls = {}): boolean {
    const isFine = answer.status >= 200 && answer.status < 300
    if (isFine) this.tell(text)
    else if (tellAtControls(answer, controls)) this.fail('')
    else this.fail(problemOf(answer))
    return isFine
  }
}

/**
 * Tells whether a read failed for a reason that may pass. A missing right (403), route (404) or part of the server
 * (501) lasts.
 */
export function hasFailed({ status }: Answer): boolean {
  return ![200, 403, 404, 501].includes(status)
}

/** Returns an element that says why `what` could not be read. If the reason may pass, a button in it calls `again`. */
export function loadFault(what: string, answer: Answer, again: () => Promise<void> | void): HTMLElement {
  if (!hasFailed(answer)) return element('p', { class: 'hint' }, `${what} could not be read: ${problemOf(answer)}`)
  const why = element('span', { class: answer.status === 0 ? 'why-away' : undefined }, `: ${problemOf(answer)}`)
  const retry = async (): Promise<void> => {
    const around = ancestorsOf(made)
    await again()
    if (document.activeElement === document.body) focusIn(around.find(({ isConnected }) => isConnected))
  }
  const made = element('div', { class: 'load-fault' },
    element('p', { role: 'alert' }, `${what} could not be read`, why), button('Try again', retry, 'small'))
  return made
}

/** Returns the elements around an element, the innermost first. */
function ancestorsOf(inner: HTMLElement): HTMLElement[] {
  const outer = inner.parentElement
  return outer === null ? [] : [outer, ...ancestorsOf(outer)]
}

/** Focuses the button `Try again` in `place`, or `place` itself when it has no such button. */
function focusIn(place: HTMLElement | undefined): void {
  const next = place?.querySelector<HTMLElement>('.load-fault button') ?? place
  if (next === place && place?.hasAttribute('tabindex') === false) place.tabIndex = -1
  next?.focus({ preventScroll: true })
}

const noticeMs = 8000

/**
 * Shows a notice for 8 seconds, with a button that calls `action`. A notice with the pointer or the focus on it stays
 * longer. `done` is called when the notice ends without the button. Returns a function that does the same as the
 * button.
 */
export function notice(text: string, label: string, action: () => void, done: () => void): () => void {
  const shown = element('div', { class: 'notice', role: 'status' }, element('span', { dir: 'auto' }, text))
  let isOver = false
  const end = (then: () => void): void => {
    if (isOver) return
    isOver = true
    clearInterval(timer)
    removeEventListener('pagehide', leave)
    shown.remove()
    then()
  }
  const leave = (): void => end(done)
  const timer = setInterval(() => {
    if (!shown.matches(':hover, :focus-within')) leave()
  }, noticeMs)
  addEventListener('pagehide', leave)
  shown.append(button(label, () => end(action)))
  noticesOf(document.body).append(shown)
  return () => end(action)
}

/** Returns the element that holds all notices, and makes it at the first call. */
function noticesOf(root: HTMLElement): Element {
  const found = root.querySelector('.notices')
  if (found !== null) return found
  const made = element('div', { class: 'notices' })
  root.append(made)
  return made
}

/** Returns the time since `moment` (ISO 8601), such as `5 min`; empty when `moment` is no time. */
export function since(moment: string): string {
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1000)
  if (!Number.isFinite(seconds)) return ''
  if (seconds < 60) return 'now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
