/** Begins a conversation with a first message. */
import { problemOf, type Api } from './api.ts'
import { textAt, type Members } from './values.ts'

export interface Beginning {
  readonly text: string
  /** Members of the request beside the message. */
  readonly request: Members
}

/** Returns the id of the new conversation, or why there is none. */
export async function begin(api: Api, { text, request }: Beginning): Promise<{ id: string } | { problem: string }> {
  const message = text.trim() === '' ? {} : {
    initial_message: { role: 'user', content: [{ type: 'text', text }], run: true },
  }
  const answer = await api.post('/api/conversations', { ...request, ...message })
  if (answer.status !== 200 && answer.status !== 201) return { problem: problemOf(answer) }
  return { id: textAt(answer.json, 'id') }
}
