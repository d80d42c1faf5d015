/**
 * Makes the form in which clients see a permission request: command, diff, files and title of the call. Pure.
 *
 * A long command or diff is cut and ends with a note. Of several edits only the first is shown as a diff.
 */
import { numberOf, textOf } from '../../../base/fields.ts'
import type { QuestionDiff, QuestionDraft } from '../../../conversation/agent/agent.ts'
import type { Edit } from '../calls/edits.ts'
import type { AskedCall } from '../calls/turn-calls.ts'

const textLimitChars = 20_000
const locationLimit = 100

export function questionOf({ id, title, event, shape, call }: AskedCall): Omit<QuestionDraft, 'options'> {
  const [edit, ...more] = shape.as === 'edits' ? shape.edits : shape.as === 'edit' ? [shape.edit] : []
  return {
    toolCallId: id,
    actionId: event.id,
    title,
    ...(shape.as === 'command' ? { command: shortened(shape.command) } : {}),
    ...(edit === undefined ? {} : { diff: shownDiff(edit, more.length) }),
    locations: call.locations.slice(0, locationLimit).flatMap(({ path, line }) => {
      const named = textOf(path)
      return named === undefined ? [] : [{ path: named, line: numberOf(line) ?? null }]
    }),
  }
}

/** Returns the diff of an edit, which `more` edits follow. An insertion has the old text ''. A missing text is null. */
function shownDiff(edit: Edit, more: number): QuestionDiff {
  const replaced = edit.do === 'insert' ? '' : null
  const old_text = 'oldText' in edit ? shortened(edit.oldText) : replaced
  return { path: edit.path, old_text, new_text: 'newText' in edit ? shortened(edit.newText) : null, more }
}

function shortened(text: string): string {
  if (text.length <= textLimitChars) return text
  return `${text.slice(0, textLimitChars)}\n[... ${text.length} characters in all; the action has the whole]`
}
