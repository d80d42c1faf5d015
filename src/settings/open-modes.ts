/**
 * Names that agents use for modes and options that act without asking.
 *
 * If the provider table lacks an agent or its modes, the agent's modes are judged by their names. A mode that no name
 * here matches may still act without asking (`agents/acp/session/modes`).
 */

/** Matches the letters of a name that means "without asking", in lower case: `alwaysapprove` for `Always Approve`. */
const openNames = new RegExp([
  '^auto$', 'yolo', 'autopilot', 'bypass', '(always|auto)(approve|accept|allow|run|edit)', 'acceptedits',
  '(approve|accept|allow)all', 'full(access|auto)', '(dont|never)ask', 'danger', 'skippermission', 'unattended',
].join('|'))

/** True if a word means "without asking". The word is the id or name of a mode, or the id or value of an option. */
export function isOpenByName(word: string): boolean {
  return openNames.test(word.slice(0, 200).replace(/[^a-z]/gi, '').toLowerCase())
}
