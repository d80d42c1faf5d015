/**
 * Reads the result of a hook's command (contract/conversations.md, section 10).
 *
 * Exit code 0 passes, except with `decision: "deny"` or `continue: false` in the JSON on stdout. Exit code 2 blocks.
 * Any other end is a failure, which blocks nothing. Texts are masked before they are cut, because a cut could leave a
 * part of a secret.
 */
import { isObject, parseJson } from '../../base/json.ts'
import type { CommandEnd } from './command.ts'

export type HookAnswer =
  | { readonly type: 'passed'; readonly context: string | undefined }
  | { readonly type: 'blocked'; readonly reason: string }
  /** `error` is the exception that was thrown while the command ran; undefined when none was thrown. */
  | { readonly type: 'failed'; readonly problem: string; readonly error?: unknown }

/** The most characters of a reason or a context. */
const textLimit = 10_000
const usualReason = 'Blocked by hook'

export function readAnswer(end: CommandEnd, mask: (text: string) => string): HookAnswer {
  if (end.end === 'failed') return { type: 'failed', problem: end.problem }
  const { exitCode, stdout } = end
  if (exitCode !== 0 && exitCode !== 2) return { type: 'failed', problem: `it ended with exit code ${exitCode}` }
  const said = readOutput(stdout)
  const text = (name: string): string | undefined => shownText(said[name], mask)
  if (exitCode === 2 || said['decision'] === 'deny' || said['continue'] === false) {
    return { type: 'blocked', reason: text('reason') ?? shownEnd(end.stderr, mask) ?? usualReason }
  }
  return { type: 'passed', context: text('additionalContext') }
}

/** Returns the JSON object on stdout; an empty object when stdout holds anything else. */
function readOutput(stdout: string): Record<string, unknown> {
  try {
    const value = parseJson(stdout)
    return isObject(value) ? value : {}
  } catch {
    return {} // Output that is not JSON has no decision.
  }
}

function shownText(value: unknown, mask: (text: string) => string): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  return mask(value).slice(0, textLimit)
}

function shownEnd(text: string, mask: (text: string) => string): string | undefined {
  return text.trim() === '' ? undefined : mask(text).trim().slice(-textLimit)
}
