/**
 * Groups secret members of different types that mean the same thing, such as the key of a model in settings and in a
 * profile.
 *
 * A sealed token opens in each member of its group. It opens in no other member, so a client cannot send the key of a
 * model to an MCP server.
 */
import type { Cipher } from './cipher.ts'

/** Groups of path prefixes. A token sealed for a path also opens for the path with another prefix of the group. */
const kinds: readonly (readonly string[])[] = [
  ['llm.', 'condenser.llm.', 'condenser.condensers.llm.'],
  ['critic.', 'verification.critic_'],
]

/** Opens a token that was sealed for `path`, or for a path of the same group; undefined for any other token. */
export function openOfKind(token: string, path: string, cipher: Cipher): string | undefined {
  for (const context of contextsOf(path)) {
    const opened = cipher.open(token, context)
    if (opened !== undefined) return opened
  }
  return undefined
}

function contextsOf(path: string): readonly string[] {
  for (const beginnings of kinds) {
    const own = beginnings.find((beginning) => path.startsWith(beginning))
    if (own !== undefined) return beginnings.map((beginning) => `${beginning}${path.slice(own.length)}`)
  }
  return [path]
}
