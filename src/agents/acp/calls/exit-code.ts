/**
 * Finds the exit code of a command. Pure.
 *
 * Agents put the code into different members, listed in `agents/acp/agents.md`. Claude and Cline report it as text. The
 * text counts for a failed command only, because any command can print the same text.
 */
import { memberAt, numberOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import type { ToolCall } from './tool-calls.ts'

export function exitCodeOf(call: ToolCall): number | undefined {
  return call.exitCode ?? toldIn(call.rawOutput) ?? saidBy(call)
}

/** True when the agent's result reports a failure, whatever the status of the call. */
export function saysFailure(rawOutput: unknown): boolean {
  const observation = memberAt(rawOutput, 'observation')
  const all = Array.isArray(rawOutput) ? objectsOf(rawOutput) : [rawOutput, observation, memberAt(rawOutput, 'result')]
  return all.some((result) => {
    if (!isObject(result)) return false
    return result['is_error'] === true || result['isError'] === true || result['success'] === false
  })
}

const names = ['exit_code', 'exitCode', 'exit']

function toldIn(rawOutput: unknown): number | undefined {
  if (!isObject(rawOutput)) return undefined
  const { metadata, observation, contents, result } = rawOutput
  const places = [rawOutput, metadata, observation, memberAt(observation, 'metadata'), result, ...objectsOf(contents)]
  return firstFailure(places.flatMap((place) => (isObject(place) ? (codeIn(place) ?? []) : [])))
}

function codeIn(place: Fields): number | undefined {
  const code = names.map((name) => numberOf(place[name])).find((value) => value !== undefined)
  return code === undefined || code === -1 || !Number.isInteger(code) ? undefined : code
}

/** Returns the first code that is not 0; 0 when all codes are 0; undefined for an empty list. */
function firstFailure(codes: readonly number[]): number | undefined {
  return codes.find((code) => code !== 0) ?? codes[0]
}

function saidBy({ status, rawOutput }: ToolCall): number | undefined {
  if (typeof rawOutput === 'string') {
    return status === 'failed' ? codeFrom(/^(?:Error: )?Exit code:? (\d{1,3})(?:\n|$)/i.exec(rawOutput)) : undefined
  }
  const entries = objectsOf(rawOutput).filter(({ success }) => typeof success === 'boolean')
  const codes = entries.map(({ success, error }) => {
    return success === true ? 0 : codeFrom(/exited with code (\d{1,3})$/i.exec((textOf(error) ?? '').slice(-100)))
  })
  if (codes.includes(undefined)) return codes.find((code) => code !== undefined && code !== 0)
  return firstFailure(codes.flatMap((code) => code ?? []))
}

function codeFrom(found: RegExpExecArray | null): number | undefined {
  return found === null ? undefined : Number(found[1])
}
