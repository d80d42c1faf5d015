/**
 * Hides the secrets and the session id in the texts of an external agent.
 *
 * A person who has the session id and can read the agent's files can resume the session. The id is read for each text,
 * because it is unknown before the session begins.
 */
import { textOf } from '../../../base/fields.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'

const shortestId = 8

export function sessionMask(host: AgentHost): (text: string) => string {
  const hideId = sessionIdMask(host)
  return (text) => hideId(host.mask(text))
}

/** Returns a function that hides the session's id if it has `shortestId` characters or more. Does not mask secrets. */
export function sessionIdMask(host: AgentHost): (text: string) => string {
  return (text) => {
    const id = textOf(host.kept('session')?.['id'])
    return id === undefined || id.length < shortestId ? text : text.replaceAll(id, '<session>')
  }
}
