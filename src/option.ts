/**
 * The kinds of options: how each kind reads a word, and which values it accepts.
 *
 * A word comes from the command line or the environment. `read` turns an unreadable word into a value that `accepts`
 * refuses.
 */
import { isAbsolute } from 'node:path'
import { AppError } from './base/errors.ts'
import { isObject } from './base/json.ts'

export type OptionGroup = 'Network' | 'Access' | 'Folders' | 'Agents' | 'Limits' | 'Log'

export interface Option<T> {
  readonly group: OptionGroup
  /** One sentence for the help, without the full stop. */
  readonly help: string
  /**
   * On the command line a `switch` takes no word; a `list` or `map` takes one word per item. A relative `path` is made
   * absolute before `accepts` checks it: from the current folder, or from the folder of the configuration file.
   */
  readonly kind: 'switch' | 'value' | 'path' | 'list' | 'map'
  /** The default; undefined if there is none. Then the option may be absent only if `accepts(undefined)` is true. */
  readonly initial: T | undefined
  /** The accepted values, as the end of a sentence: "expected ...". */
  readonly expected: string
  accepts(value: unknown): value is T
  read(word: string): unknown
  /** Reads the value from environment variables of other agent servers, such as `OH_SECRET_KEY`. */
  readonly readOthers?: ReadOthers
  /** The placeholder of the value in the help, such as `BYTES`, `MS`, `PATH`. */
  readonly placeholder: string
  /** The range or the choices, for the help. */
  readonly range?: string
  /** The flag's name, if not the option's. The flag of a list or map adds one item, so its name is singular. */
  readonly flag?: string
  /** True for a secret. Its value is never shown, and may be given as a file (`--<flag>-file`). */
  readonly isSecret?: boolean
}

export type ReadOthers = (environment: Readonly<Record<string, string | undefined>>) => OtherValue | undefined

/** A value that was read from environment variables of other agent servers. */
export interface OtherValue {
  readonly value: unknown
  /** The names of the environment variables that were read, as one text for messages. */
  readonly source: string
}

/** Refuses a word where the command accepts only options. @throws AppError `invalid_option` */
export function assertNoWords(command: string, [word]: readonly string[]): void {
  if (word === undefined) return
  throw new AppError('invalid_option', `Could not use "${word}": ${command} takes options only`)
}

/** The members that are given for an option of any kind. */
export interface Description {
  readonly group: OptionGroup
  readonly help: string
  readonly flag?: string
  readonly isSecret?: boolean
  readonly readOthers?: ReadOthers
}

export interface IntegerDescription extends Description {
  readonly placeholder?: string
  readonly initial: number
  readonly min: number
  readonly max: number
}

export function integer(description: IntegerDescription): Option<number> {
  const { min, max, placeholder } = description
  return {
    placeholder: 'NUMBER',
    range: `${min} to ${max}`,
    ...description,
    kind: 'value',
    expected: `an integer from ${min} to ${max}${placeholder === 'BYTES' ? ', in bytes' : ''}`,
    accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    read: (word) => (/^\d+$/.test(word) ? Number(word) : word),
  }
}

/** Returns an option for a size in bytes, from 1 KiB to 1 GiB. */
export function bytes(initial: number, help: string): Option<number> {
  return integer({ group: 'Limits', help, placeholder: 'BYTES', initial, min: 1024, max: 1024 * 1024 * 1024 })
}

/** Returns an option for a time in milliseconds, at most the longest time that a timer of Node accepts. */
export function milliseconds(initial: number, group: OptionGroup, help: string): Option<number> {
  return integer({ group, help, placeholder: 'MS', initial, min: 1, max: 2_147_483_647 })
}

export function count(initial: number, group: OptionGroup, help: string): Option<number> {
  return integer({ group, help, initial, min: 1, max: 1_000_000 })
}

export interface TextDescription extends Description {
  readonly placeholder: string
  readonly initial: string
  readonly expected: string
  readonly pattern: RegExp
}

export function text(description: TextDescription): Option<string> {
  return { ...description, kind: 'value', accepts: isTextOf(description.pattern), read: (word) => word }
}

/** Returns an option for a text that fits a pattern; the option may be absent. */
export function optionalText(description: Omit<TextDescription, 'initial'>): Option<string | undefined> {
  const isText = isTextOf(description.pattern)
  return {
    ...description,
    kind: 'value',
    initial: undefined,
    accepts: (value): value is string | undefined => value === undefined || isText(value),
    read: (word) => word,
  }
}

export function oneOf<const T extends string>(choices: readonly T[], initial: T, description: Description): Option<T> {
  return {
    ...description,
    kind: 'value',
    initial,
    placeholder: 'WORD',
    range: choices.join(', '),
    expected: `one of ${choices.join(', ')}`,
    accepts: (value): value is T => choices.some((choice) => choice === value),
    read: (word) => word,
  }
}

export function path(description: Description): Option<string> {
  return {
    ...description,
    kind: 'path',
    initial: undefined,
    placeholder: 'PATH',
    expected: 'an absolute path',
    accepts: isAbsolutePath,
    read: (word) => word,
  }
}

/** Returns an option for an absolute path; the option may be absent. */
export function optionalPath(description: Description): Option<string | undefined> {
  return {
    ...path(description),
    initial: undefined,
    accepts: (value): value is string | undefined => value === undefined || isAbsolutePath(value),
  }
}

const yes = ['true', '1', 'yes', 'on']
const no = ['false', '0', 'no', 'off']

export function toggle(description: Description): Option<boolean> {
  return {
    ...description,
    kind: 'switch',
    initial: false,
    placeholder: '',
    expected: 'true or false',
    accepts: (value): value is boolean => typeof value === 'boolean',
    read: readToggle,
  }
}

/** Returns true for a word in `yes` and false for a word in `no`, in upper or lower case; other words unchanged. */
export function readToggle(word: string): boolean | string {
  const lower = word.toLowerCase()
  return yes.includes(lower) || (no.includes(lower) ? false : word)
}

export interface ListDescription extends Description {
  readonly flag: string
  readonly placeholder: string
  /** The accepted values of one item, as the end of a sentence: "expected ...". */
  readonly expected: string
  readonly accepts: (item: string) => boolean
}

export function list(description: ListDescription): Option<readonly string[]> {
  const isItem = (item: unknown): boolean => typeof item === 'string' && description.accepts(item)
  return {
    ...description,
    kind: 'list',
    initial: [],
    accepts: (value): value is readonly string[] => Array.isArray(value) && value.every(isItem),
    read: (word) => word,
  }
}

export type Commands = Readonly<Record<string, string | readonly string[]>>

/** Returns an option that maps names to commands: `NAME=COMMAND`. A command is a text, or a list of words. */
export function commands(description: Description & { readonly flag: string }): Option<Commands> {
  return {
    ...description,
    kind: 'map',
    initial: {},
    placeholder: 'NAME=COMMAND',
    expected: 'NAME=COMMAND',
    accepts: (value): value is Commands => isObject(value) && Object.entries(value).every(isCommand),
    read: (word) => {
      const mark = word.indexOf('=')
      return mark === -1 ? { '': word } : { [word.slice(0, mark)]: word.slice(mark + 1) }
    },
  }
}

function isCommand([name, command]: [string, unknown]): boolean {
  if (!/^[a-z0-9][a-z0-9_-]*$/i.test(name)) return false
  if (typeof command === 'string') return command.trim() !== ''
  return Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')
}

function isTextOf(pattern: RegExp): (value: unknown) => value is string {
  return (value): value is string => typeof value === 'string' && pattern.test(value)
}

function isAbsolutePath(value: unknown): value is string {
  return typeof value === 'string' && isAbsolute(value) && !value.includes('\0')
}

export type OptionTable = Readonly<Record<string, Option<unknown>>>

/** The values of a table of options, by name. */
export type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Option<infer T> ? T : never
}

/** Returns the values of the options in `table`. @throws TypeError for a value that its option refuses */
export function valuesOf<Table extends OptionTable>(
  table: Table, values: Readonly<Record<string, unknown>>,
): OptionValues<Table> {
  const picked: Record<string, unknown> = {}
  for (const name of Object.keys(table)) picked[name] = values[name]
  assertValues(table, picked)
  return picked
}

function assertValues<Table extends OptionTable>(
  table: Table, values: Record<string, unknown>,
): asserts values is Record<string, unknown> & OptionValues<Table> {
  for (const [name, option] of Object.entries(table)) {
    if (!option.accepts(values[name])) throw new TypeError(`The option "${name}" was not checked`)
  }
}
