/**
 * Hides what an external agent may say but nobody else may see: secrets, and the id of its session.
 *
 * With the id anybody who reaches the agent's own files could take the session up, and agents do say it: in their logs,
 * in errors, in the environment of their tools. It becomes known only when the session is kept, so every text is looked
 * at with what is known then. A word that is too short for an id is left alone.
 */
import type { AgentHost } from '../../conversation/agent.ts'
import { textOf } from '../../base/fields.ts'

const shortestId = 8

export function sessionMask(host: AgentHost): (text: string) => string {
  const hideId = sessionIdMask(host)
  return (text) => hideId(host.mask(text))
}

/** Hides the id alone, in a text that is masked where it goes. */
export function sessionIdMask(host: AgentHost): (text: string) => string {
  return (text) => {
    const id = textOf(host.kept('session')?.id)
    return id === undefined || id.length < shortestId ? text : text.replaceAll(id, '<session>')
  }
}
