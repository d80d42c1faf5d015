/** The step that begins the first conversation. It suggests messages that fit the chosen agent. */
import { chosenAgent } from '../agents.ts'
import { begin, draftKey, forgetDraft, tellBegun } from '../begin.ts'
import { element, fill } from '../dom.ts'
import { navigate } from '../router.ts'
import { button, form, Status } from '../widgets.ts'
import { doneKey, stepKey, type StepContext } from './step.ts'

const suggestions: Readonly<Record<string, readonly string[]>> = {
  demo: ['Show me what you can do', 'run: ls -la', 'write: hello.txt Hello from the console'],
  other: ['Look at this folder and tell me what is in it', 'Write a small web page that counts clicks, and test it'],
}

export function showFirst(root: HTMLElement, { api, signal }: StepContext): void {
  const status = new Status()
  const text = element('textarea', { rows: 3, class: 'task-box', 'aria-label': 'First message', dir: 'auto' })
  text.addEventListener('input', () => localStorage.setItem(draftKey, text.value))
  const chips = element('div', { class: 'chips' })
  const start = async (): Promise<void> => {
    const sent = text.value
    const begun = await begin(api, { text: sent, request: {} })
    if ('id' in begun) {
      localStorage.setItem(doneKey, 'done')
      forgetDraft(sent)
      localStorage.removeItem(stepKey)
    }
    if (signal.aborted) return tellBegun(begun)
    if ('id' in begun) navigate(`/c/${begun.id}`)
    else status.fail(begun.problem)
  }
  const made = form(start, text, chips, element('button', { class: 'primary' }, 'Start'), status.element)
  fill(root, made)
  void api.get('/api/settings').then((settings) => {
    if (signal.aborted) return
    const offered = suggestions[chosenAgent(settings)] ?? suggestions['other'] ?? []
    text.value = localStorage.getItem(draftKey) || (offered[0] ?? '')
    fill(chips, offered.map((one) => button(one, () => {
      text.value = one
      localStorage.setItem(draftKey, one)
      text.focus()
    }, 'chip')))
  })
}
