/**
 * The words by which agents call a way of working that does not ask.
 *
 * Of an agent that is in no table, the name of a mode is all that this server can judge it by. The list only adds to
 * what is refused while a policy asks: a mode with another name is not trusted for that. Collected from the modes and
 * options of Claude Code, Codex, Gemini CLI, opencode, Qwen Code, Copilot CLI, Cline and OpenHands CLI.
 */

/** Compared with letters alone: `always-approve`, `alwaysApprove` and `Always approve` are the same. */
const openNames = new RegExp([
  '^auto$', 'yolo', 'autopilot', 'bypass', '(always|auto)(approve|accept|allow|run|edit)', 'acceptedits',
  '(approve|accept|allow)all', 'full(access|auto)', '(dont|never)ask', 'danger', 'skippermission', 'unattended',
].join('|'))

/** True for a word that stands for not asking: the id or the name of a mode, or the value of another option. */
export function isOpenByName(word: string): boolean {
  return openNames.test(word.slice(0, 200).replace(/[^a-z]/gi, '').toLowerCase())
}
