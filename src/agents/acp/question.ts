/**
 * A permission request as clients see it: what would be done, beside the words of the agent. Pure.
 *
 * It says what the recorded action says; a long command or diff is cut here, with a mark, and whole in the action.
 */
import type { QuestionDiff, QuestionDraft } from '../../conversation/agent.ts'
import { numberOf, textOf } from '../../base/fields.ts'
import { diffsOf, type Diff } from './tool-calls.ts'
import type { AskedCall } from './turn-calls.ts'

const textLimitChars = 20_000
const locationLimit = 100

export function questionOf({ id, title, event, shape, call }: AskedCall): Omit<QuestionDraft, 'options'> {
  const [diff, ...more] = diffsOf(call)
  return {
    toolCallId: id,
    actionId: event.id,
    title,
    ...(shape.as === 'command' ? { command: shortened(shape.command) } : {}),
    ...(diff === undefined ? {} : { diff: shownDiff(diff, more.length) }),
    locations: call.locations.slice(0, locationLimit).flatMap(({ path, line }) => {
      const named = textOf(path)
      return named === undefined ? [] : [{ path: named, line: numberOf(line) ?? null }]
    }),
  }
}

function shownDiff({ path, oldText, newText }: Diff, more: number): QuestionDiff {
  return { path, old_text: oldText === null ? null : shortened(oldText), new_text: shortened(newText), more }
}

function shortened(text: string): string {
  if (text.length <= textLimitChars) return text
  return `${text.slice(0, textLimitChars)}\n[... ${text.length} characters in all; the action has the whole]`
}
