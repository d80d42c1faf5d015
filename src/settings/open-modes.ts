/**
 * Names that agents use for modes that act without asking.
 *
 * The modes of some agents are not in the provider table. This server judges such a mode by its name. While the
 * confirmation policy requires questions, a mode with such a name is refused. No name makes a mode trusted. The names
 * were collected from Claude Code, Codex, Gemini CLI, opencode, Qwen Code, Copilot CLI, Cline and OpenHands CLI.
 */

/** Only letters are compared: `always-approve`, `alwaysApprove` and `Always approve` are equal. */
const openNames = new RegExp([
  '^auto$', 'yolo', 'autopilot', 'bypass', '(always|auto)(approve|accept|allow|run|edit)', 'acceptedits',
  '(approve|accept|allow)all', 'full(access|auto)', '(dont|never)ask', 'danger', 'skippermission', 'unattended',
].join('|'))

/** True for a text that means "without asking": the id or the name of a mode, or the value of an option. */
export function isOpenByName(word: string): boolean {
  return openNames.test(word.slice(0, 200).replace(/[^a-z]/gi, '').toLowerCase())
}
