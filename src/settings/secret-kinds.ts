/**
 * The kinds of secrets: members that stand for the same thing in different types, such as the key of a model in the
 * settings, in a profile, in an agent and in its condenser.
 *
 * A client may take a sealed token from one such member and send it in another. A token of another kind does not open:
 * otherwise a client could send the key of a model in a header to an MCP server. Pure.
 */
import type { Cipher } from './cipher.ts'

/** The beginnings of the paths of each kind, in settings, profiles and agents. After them, the paths are equal. */
const kinds: readonly (readonly string[])[] = [
  ['llm.', 'condenser.llm.', 'condenser.condensers.llm.'],
  ['critic.', 'verification.critic_'],
]

/** Opens a token that was sealed for this member or for another one of its kind; undefined when it does not open. */
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
