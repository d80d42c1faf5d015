/**
 * What the end of a hook's command says (contract: conversations.md, section 10).
 *
 * Exit code 0 passes, unless the JSON on stdout denies (`decision`) or does not want to go on (`continue`); 2 blocks;
 * any other is a failure that blocks nothing, and so is a command that did not come to its end. Texts are masked before
 * they are cut, so a secret is never shown in part. Pure.
 */
import { isObject, parseJson } from '../../base/json.ts'
import type { CommandEnd } from './command.ts'

export type HookAnswer =
  | { readonly type: 'passed'; readonly context: string | undefined }
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'failed'; readonly problem: string }

/**
 * Of one text, in characters. What stderr keeps is longer, so where that is cut a secret may be halved, and is not
 * shown.
 */
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

/** The members of a JSON object; none of anything else. */
function readOutput(stdout: string): Record<string, unknown> {
  try {
    const value = parseJson(stdout)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function shownText(value: unknown, mask: (text: string) => string): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  return mask(value).slice(0, textLimit)
}

function shownEnd(text: string, mask: (text: string) => string): string | undefined {
  return text.trim() === '' ? undefined : mask(text).trim().slice(-textLimit)
}
