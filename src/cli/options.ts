/**
 * Makes a `Config` from a command line, an environment and a configuration file.
 *
 * Each option has a name in all three: `dataDir` is `--data-dir`, `AGENT_SERVER_DATA_DIR`, and `dataDir` or `data-dir`
 * in the file. A flag overrides a variable, and a variable overrides the file.
 */
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError, messageOf } from '../base/errors.ts'
import { formatMode, othersMay } from '../base/file-mode.ts'
import { isObject, parseJson } from '../base/json.ts'
import { findJsonFault } from '../base/json-fault.ts'
import { partOptions } from '../all-parts.ts'
import { createConfig, invalidOption, optionTable, type Config } from '../config.ts'
import type { Option } from '../option.ts'
import { nearest } from './nearest.ts'

export interface CommandLine {
  /** The arguments, without the program's own name. */
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  /** Returns the mode of a regular file; undefined for a missing file and any other file, such as a pipe. */
  readonly modeOf: (path: string) => number | undefined
  /** The base of relative paths. The base of paths in a configuration file is the folder of the file. */
  readonly currentDir: string
  /** The command's own flags. A `value` flag is followed by a value. */
  readonly commandFlags?: Readonly<Record<string, 'switch' | 'value'>>
}

export type ParsedCommandLine =
  /** The arguments besides `--help` that are not flags. One of these words may name the topic. */
  | { readonly kind: 'help'; readonly words: readonly string[] }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'run'
      readonly config: Config
      /** The arguments that are not flags, in order. */
      readonly words: readonly string[]
      /** The given flags of `commandFlags` with their last values; a switch has the value `true`. */
      readonly flags: Readonly<Record<string, string>>
      /** Every value of each given flag of `commandFlags`, in order. */
      readonly given: Readonly<Record<string, readonly string[]>>
      /** Files that hold keys and that other users may read. */
      readonly exposedFiles: readonly string[]
      /** The flag, variable or file member that gave each option, by option name. */
      readonly origins: ReadonlyMap<string, string>
    }

/** The sources of the options' values. Reading the values fills `exposedFiles` and `origins`. */
interface Sources extends Pick<CommandLine, 'environment' | 'readFile' | 'modeOf' | 'currentDir'> {
  readonly exposedFiles: Set<string>
  readonly origins: Map<string, string>
}

/** One flag of an option. A secret option has a second entry, with the flag `--NAME-file`. */
export interface Entry {
  readonly name: string
  readonly option: Option<unknown>
  readonly flag: string
  /** True when the flag takes the path of a file that holds the value. */
  readonly isFile: boolean
}

type Values = Record<string, unknown>

/** Parses the options. @throws AppError `invalid_option`, whose message names what cannot be used */
export function parseOptions(line: CommandLine): ParsedCommandLine {
  const { environment, readFile, modeOf, currentDir } = line
  const { flags, words, own, given } = readFlags(line)
  if ('help' in flags) return { kind: 'help', words }
  if ('version' in flags) return { kind: 'version' }
  const exposedFiles = new Set<string>()
  const origins = new Map<string, string>()
  const sources = { environment, readFile, modeOf, currentDir, exposedFiles, origins }
  // A later source overrides an earlier source.
  const values: Values = {
    ...defaultFolders(environment),
    ...readConfigFile(flags['config']?.at(-1), sources),
    ...readOtherVariables(sources),
    ...readVariables(sources),
    ...readFlagValues(flags, sources),
  }
  const { dataDir, workspaceDir, ...rest } = values
  const config = configOf({ ...rest, dataDir, workspaceDir })
  return { kind: 'run', config, words, flags: own, given, exposedFiles: [...exposedFiles], origins }
}

const allOptions = Object.entries<Option<unknown>>({ ...optionTable, ...partOptions })

/** The entries of all options, in the order of the table. The variable of an entry is `variableOf(flag)`. */
export const entries: readonly Entry[] = allOptions.flatMap(([name, option]) => {
  const flag = option.flag ?? toKebab(name)
  const plain: Entry = { name, option, flag, isFile: false }
  return option.isSecret ? [plain, { ...plain, flag: `${flag}-file`, isFile: true }] : [plain]
})

/** Returns the environment variable that sets the same option as a flag: `AGENT_SERVER_DATA_DIR` for `data-dir`. */
export function variableOf(flag: string): string {
  return `AGENT_SERVER_${flag.replaceAll('-', '_').toUpperCase()}`
}

interface Flags {
  /** Every value of each given flag, without the command's own flags. A switch without a value has the empty text. */
  readonly flags: Readonly<Record<string, readonly string[]>>
  readonly words: readonly string[]
  readonly own: Readonly<Record<string, string>>
  /** Every value of each flag in `own`, the flags of the command itself. */
  readonly given: Readonly<Record<string, readonly string[]>>
}

function readFlags({ argv, commandFlags = {} }: CommandLine): Flags {
  const kinds = new Map<string, 'switch' | 'value'>([['help', 'switch'], ['version', 'switch'], ['config', 'value']])
  for (const { flag, option } of entries) kinds.set(flag, option.kind === 'switch' ? 'switch' : 'value')
  for (const [flag, kind] of Object.entries(commandFlags)) kinds.set(flag, kind)
  const options: Record<string, { type: 'boolean' | 'string'; short?: string }> = {}
  for (const [flag, kind] of kinds) options[flag] = { type: kind === 'switch' ? 'boolean' : 'string' }
  options['help'] = { type: 'boolean', short: 'h' }
  // Not strict: unknown flags are reported below.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const flags: Record<string, string[]> = {}
  const given: Record<string, string[]> = {}
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const kind = kinds.get(token.name)
    if (kind === undefined) throw unknownOption(token.rawName, [...kinds.keys()].map((flag) => `--${flag}`))
    const isForgotten = token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))
    if (kind === 'value' && isForgotten) throw unusable(token.rawName, 'expected a value after it')
    const value = token.value ?? ''
    if (Object.hasOwn(commandFlags, token.name)) (given[token.name] ??= []).push(kind === 'switch' ? 'true' : value)
    else (flags[token.name] ??= []).push(value)
  }
  const own = Object.fromEntries(Object.entries(given).map(([name, values]) => [name, values.at(-1) ?? '']))
  return { flags, words, own, given }
}

function readFlagValues(flags: Flags['flags'], line: Sources): Values {
  const values: Values = {}
  for (const entry of entries) {
    const given = flags[entry.flag]
    if (given === undefined) continue
    const words = entry.option.kind === 'switch' ? given.map((word) => (word === '' ? 'true' : word)) : given
    take(values, entry, readWords(entry, words, `--${entry.flag}`, line), `--${entry.flag}`, line)
  }
  return values
}

function readVariables(line: Sources): Values {
  const values: Values = {}
  for (const entry of entries) {
    const source = variableOf(entry.flag)
    const word = line.environment[source]
    if (word === undefined) continue
    // An empty variable counts as unset, but `resolvePath` refuses an empty path.
    if (word === '' && !takesPath(entry)) continue
    // Keys and commands may contain commas, so their variables are not split.
    const isSplit = entry.option.kind === 'list' && !entry.option.isSecret
    const words = isSplit ? word.split(',').map((item) => item.trim()) : [word]
    take(values, entry, readWords(entry, words, source, line), source, line)
  }
  return values
}

/** Reads options from the variables that other servers use for them, such as `SESSION_API_KEY`. */
function readOtherVariables(line: Sources): Values {
  const values: Values = {}
  for (const entry of entries) {
    const other = entry.isFile ? undefined : entry.option.readOthers?.(line.environment)
    if (other !== undefined) take(values, entry, other.value, other.source, line)
  }
  return values
}

function readConfigFile(flag: string | undefined, line: Sources): Values {
  const given = flag ?? line.environment['AGENT_SERVER_CONFIG']
  if (given === undefined) return {}
  const path = resolvePath(given, line, flag === undefined ? 'AGENT_SERVER_CONFIG' : '--config')
  const values: Values = {}
  for (const [member, value] of Object.entries(parseConfigFile(path, readTextFile(path, line)))) {
    const source = `"${member}" in ${path}`
    const entry = entries.find((candidate) => member === candidate.flag || membersOf(candidate).includes(member))
    if (entry === undefined) {
      throw unknownOption(source, entries.flatMap(membersOf), { name: member, help: '--help config' })
    }
    if (entry.option.isSecret && !entry.isFile) assertPrivate(path, line, source)
    const isText = typeof value === 'string' && takesPath(entry)
    const fromFolder = { ...line, currentDir: dirname(path) }
    take(values, entry, isText ? readWords(entry, [value], source, fromFolder) : value, source, line)
  }
  return values
}

/** Returns an entry's names in the configuration file besides its flag, such as `allowedHosts` and `allowedHost`. */
export function membersOf({ name, flag, isFile }: Entry): string[] {
  return isFile ? [toCamel(flag)] : [name, toCamel(flag)]
}

function parseConfigFile(path: string, content: string): Record<string, unknown> {
  // The message of JSON.parse may quote a secret, so it is not used.
  const fault = findJsonFault(content)
  if (fault !== undefined) {
    throw unusable(`the configuration file ${path}`, `${placeIn(content, fault.offset)}: ${fault.reason}`)
  }
  const value = parseJson(content)
  if (isObject(value)) return value
  throw unusable(`the configuration file ${path}`, 'expected a JSON object')
}

/** Returns a text with the line and the column of an offset, both counted from 1. */
function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Reads an option's value from the last word. A list or a map uses all words. A file flag reads the named file. */
function readWords(entry: Entry, words: readonly string[], source: string, line: Sources): unknown {
  const { option, isFile } = entry
  const last = words.at(-1) ?? ''
  if (isFile) {
    const path = resolvePath(last, line, source)
    assertPrivate(path, line, source)
    const lines = readTextFile(path, line, source).split('\n').map((text) => text.trim())
    const filled = lines.filter((text) => text !== '')
    return option.kind === 'list' ? filled : filled.join('\n')
  }
  switch (option.kind) {
    case 'list':
      return words.map((word) => option.read(word))
    case 'map':
      return Object.assign({}, ...words.map((word) => option.read(word)))
    case 'path':
      return resolvePath(last, line, source)
    case 'switch':
    case 'value':
      return option.read(last)
  }
}

function takesPath({ option, isFile }: Entry): boolean {
  return isFile || option.kind === 'path'
}

/** Resolves a path from `line.currentDir`. Refuses an empty path, which mostly comes from an unset variable. */
function resolvePath(word: string, line: Sources, source: string): string {
  if (word === '') throw unusable(source, 'it is empty, expected a path')
  return resolve(line.currentDir, word)
}

/** Refuses a key file that other users can write. A key file that they can only read is added to `exposedFiles`. */
function assertPrivate(path: string, line: Sources, source: string): void {
  const mode = line.modeOf(path)
  const others = mode === undefined ? 'nothing' : othersMay(mode)
  if (others === 'read') line.exposedFiles.add(path)
  if (others !== 'write' || mode === undefined) return
  throw unusable(source, `other users may write ${path} (mode ${formatMode(mode)}), expected chmod 600`)
}

function readTextFile(path: string, line: Sources, source = '--config'): string {
  try {
    return line.readFile(path)
  } catch (error) {
    throw new AppError('invalid_option', `Could not read the file of ${source}: ${messageOf(error)}`, { cause: error })
  }
}

function take(values: Values, { name, option }: Entry, value: unknown, source: string, { origins }: Sources): void {
  if (!option.accepts(value)) throw invalidOption(option, source, value)
  values[name] = value
  origins.set(name, source)
}

/** Returns the default folders by the XDG base directory specification, as far as HOME or XDG variables are set. */
export function defaultFolders(environment: CommandLine['environment']): Values {
  const home = environment['HOME']
  const data = environment['XDG_DATA_HOME'] || (home && join(home, '.local', 'share'))
  const state = environment['XDG_STATE_HOME'] || (home && join(home, '.local', 'state'))
  return {
    ...(data ? { dataDir: join(data, 'agent-server') } : {}),
    ...(state ? { workspaceDir: join(state, 'agent-server', 'workspaces') } : {}),
  }
}

function configOf({ dataDir, workspaceDir, ...rest }: Values): Config {
  if (typeof dataDir !== 'string') throw missing('--data-dir')
  if (typeof workspaceDir !== 'string') throw missing('--workspace-dir')
  return createConfig({ ...rest, dataDir, workspaceDir }, partOptions)
}

function missing(flag: string): AppError {
  return new AppError('invalid_option', `Could not choose a folder: HOME is not set, expected ${flag}`)
}

function unknownOption(
  source: string, candidates: readonly string[], { name = source, help = '--help' } = {},
): AppError {
  // `nearest` does not find `maxDisk` for `maxDiskBytes`, so a candidate with which the name begins is taken too.
  const similar = nearest(name, candidates) ?? candidates.find((one) => one.length > 3 && name.startsWith(one))
  const advice = similar === undefined ? `see ${help} for all options` : `did you mean ${similar}?`
  return unusable(source, `there is no such option, ${advice}`)
}

function unusable(source: string, reason: string): AppError {
  return new AppError('invalid_option', `Could not use ${source}: ${reason}`)
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function toCamel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
