/** Begins a conversation, with a first message if there is one. */
import { problemOf, type Api } from './api.ts'
import { textAt, type Members } from './values.ts'

/** The key in `localStorage` of the text of a conversation that has not begun yet. */
export const draftKey = 'agent-server-draft'

export interface Beginning {
  readonly text: string
  /** The members of the request except `initial_message`. */
  readonly request: Members
}

/** Begins a conversation; blank text sends no message. Returns the id, or the problem that prevented it. */
export async function begin(api: Api, { text, request }: Beginning): Promise<{ id: string } | { problem: string }> {
  const message = text.trim() === '' ? {} : {
    initial_message: { role: 'user', content: [{ type: 'text', text }], run: true },
  }
  const answer = await api.post('/api/conversations', { ...request, ...message })
  if (answer.status !== 200 && answer.status !== 201) return { problem: problemOf(answer) }
  return { id: textAt(answer.json, 'id') }
}
