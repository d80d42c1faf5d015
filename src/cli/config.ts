/**
 * `agent-server config`: prints every option with its value and its source (flag, variable, file or default).
 *
 * The value of a secret is not shown.
 */
import { formatRows } from '../base/rows.ts'
import type { Config } from '../config.ts'
import { assertNoWords, type Option } from '../option.ts'
import { entries } from './options.ts'

export interface ConfigQuestion {
  readonly config: Config
  /** The source of each option that was given, by option name. */
  readonly origins: ReadonlyMap<string, string>
  readonly words: readonly string[]
  readonly asJson: boolean
}

/** Prints a table or JSON, and returns the exit code 0. @throws AppError `invalid_option` if `words` is not empty */
export function printConfig({ config, origins, words, asJson }: ConfigQuestion): number {
  assertNoWords('config', words)
  const values: Readonly<Record<string, unknown>> = config
  const options = entries.filter(({ isFile }) => !isFile).map(({ name, flag, option }) => {
    return { name, flag: `--${flag}`, value: shown(option, values[name]), source: origins.get(name) ?? 'default' }
  })
  const rows = options.map(({ flag, value, source }) => [flag, format(value), source])
  process.stdout.write(`${asJson ? JSON.stringify(options, undefined, 2) : formatRows(rows)}\n`)
  return 0
}

/** Returns the value to print, or null without a value. A secret is printed as `set`. */
function shown({ isSecret = false }: Option<unknown>, value: unknown): unknown {
  if (!isSecret) return value ?? null
  return value === undefined || (Array.isArray(value) && value.length === 0) ? null : 'set'
}

/** Returns the value as a cell of the table; `-` for null and for an empty object or list. */
function format(value: unknown): string {
  if (typeof value === 'string') return value
  const isEmpty = value === null || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  if (isEmpty) return '-'
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}
