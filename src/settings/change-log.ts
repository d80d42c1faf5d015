/**
 * Logs changes of stored files, such as the settings: the names of changed values, but no values.
 *
 * The name of a nested value is a path with dots.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../base/json.ts'
import type { Log } from '../base/log.ts'

/** Called with the value before and the value after a change, when the change is on disk. */
export type TellChange = (before: unknown, after: unknown) => void

const nameLimit = 20
const depthLimit = 4
const nameLimitChars = 100

export function changeLog(log: Log, message: string): TellChange {
  return (before, after) => {
    const names = differentNames(before, after, depthLimit)
    // A save that changed no value is not logged.
    if (names.length === 0) return
    const rest = names.length - nameLimit
    log.info(message, { names: names.slice(0, nameLimit).join(', '), ...(rest > 0 ? { more: rest } : {}) })
  }
}

function differentNames(before: unknown, after: unknown, depth: number): string[] {
  const [left, right] = [membersOf(before), membersOf(after)]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
    if (isDeepStrictEqual(left[name], right[name])) return []
    const shown = name.slice(0, nameLimitChars)
    const isNested = depth > 1 && isObject(left[name]) && isObject(right[name])
    return isNested ? differentNames(left[name], right[name], depth - 1).map((inner) => `${shown}.${inner}`) : [shown]
  })
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Map) return Object.fromEntries(value)
  return isObject(value) ? value : {}
}
