/**
 * The result of one check, and the checks that every history must pass.
 *
 * Rules: contract: events.md, section 1, and decisions 3 and 16. Each action has exactly one result after it, with the
 * same tool call and tool name, and no action is open at the end.
 */
import { answersTo, isAnswer, ofKind } from './history.ts'
import { memberAt } from './member.ts'

export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The value that was seen, for a reader of a failure. */
  readonly seen: string
}

/** Compares `expected` and `seen` as JSON. */
export function check(name: string, seen: unknown, expected: unknown): Check {
  return { name, ok: JSON.stringify(seen) === JSON.stringify(expected), seen: JSON.stringify(seen) ?? 'nothing' }
}

export function checkThat(name: string, ok: boolean, seen: unknown): Check {
  return { name, ok, seen: JSON.stringify(seen) ?? 'nothing' }
}

export function checkAnswers(events: readonly unknown[]): Check[] {
  const calls = ofKind(events, 'ActionEvent').map((event) => memberAt(event, 'tool_call_id'))
  const answers = events.filter(isAnswer)
  return [
    check('no tool call id is used twice', new Set(calls).size, calls.length),
    check(
      'every answer answers an action', answers.filter((event) => !calls.includes(memberAt(event, 'tool_call_id'))), [],
    ),
    ...ofKind(events, 'ActionEvent').map((action) => checkAnswer(action, events)),
  ]
}

function checkAnswer(action: unknown, events: readonly unknown[]): Check {
  const found = answersTo(action, events.slice(events.indexOf(action)))
  const [answer] = found
  const isObservation = memberAt(answer, 'kind') !== 'AgentErrorEvent'
  const ok = found.length === 1 && answersTo(action, events).length === 1
    && memberAt(answer, 'tool_name') === memberAt(action, 'tool_name')
    && (!isObservation || memberAt(answer, 'action_id') === memberAt(action, 'id'))
  return checkThat(`"${String(memberAt(action, 'summary'))}" has exactly one answer`, ok, [action, ...found])
}
