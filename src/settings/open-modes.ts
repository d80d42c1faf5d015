/**
 * Names that agents use for modes and options that act without asking.
 *
 * A mode of an agent that is not in the provider table is judged by its name. A mode that no name here matches may
 * still act without asking (`agents/acp/session/modes`).
 */

/** Tested on a name's letters alone, in lower case, so `always-approve` and `Always Approve` are the same name. */
const openNames = new RegExp([
  '^auto$', 'yolo', 'autopilot', 'bypass', '(always|auto)(approve|accept|allow|run|edit)', 'acceptedits',
  '(approve|accept|allow)all', 'full(access|auto)', '(dont|never)ask', 'danger', 'skippermission', 'unattended',
].join('|'))

/** True for the id or name of a mode, or the value of an option, that means "without asking". */
export function isOpenByName(word: string): boolean {
  return openNames.test(word.slice(0, 200).replace(/[^a-z]/gi, '').toLowerCase())
}
