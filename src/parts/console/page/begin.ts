/** Begins a conversation. */
import { problemOf, type Api } from './api.ts'
import { navigate } from './router.ts'
import { textAt, type Members } from './values.ts'
import { notice } from './widgets.ts'

/** The name in `localStorage` under which the unsent text for a new conversation (the draft) is stored. */
export const draftKey = 'agent-server-draft'

/** Removes the stored draft if it is still the text `sent`. A text typed meanwhile stays. */
export function forgetDraft(sent: string): void {
  if (localStorage.getItem(draftKey) === sent) localStorage.removeItem(draftKey)
}

export interface Beginning {
  readonly text: string
  /** The members of the request except `initial_message`. */
  readonly request: Members
}

/** The id of the new conversation, or the problem that prevented it. */
export type Begun = { readonly id: string } | { readonly problem: string }

/** Begins a conversation; blank text sends no message. */
export async function begin(api: Api, { text, request }: Beginning): Promise<Begun> {
  const message = text.trim() === '' ? {} : {
    initial_message: { role: 'user', content: [{ type: 'text', text }], run: true },
  }
  const answer = await api.post('/api/conversations', { ...request, ...message })
  if (answer.status !== 200 && answer.status !== 201) return { problem: problemOf(answer) }
  return { id: textAt(answer.json, 'id') }
}

/** Shows the outcome as a notice, for a person who has opened another view. */
export function tellBegun(begun: Begun): void {
  const done = (): void => undefined
  if ('id' in begun) notice('The new conversation has begun', 'Open', () => navigate(`/c/${begun.id}`), done)
  else notice(`The new conversation has not begun: ${begun.problem}`, 'Go back', () => navigate('/'), done)
}
