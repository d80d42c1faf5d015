/**
 * `--providers FILE`: what the operator adds to the provider table, or changes in it.
 *
 * The file is a JSON object of entries by provider name, with the members of `Provider` as in providers-table. Members
 * given for a built-in provider replace the table's. A new provider needs `command`, `prefix` and `defaultModel`; it is
 * no preset but applies to custom servers whose command it matches, see `providers`. Unknown members are refused: they
 * would be typing errors.
 */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { readJsonFile } from '../base/json-file.ts'
import { splitCommand } from './command.ts'
import { customServer, withCommands } from './providers.ts'
import { builtInProviders } from './providers-table.ts'
import { blankProvider, type LoginChoice, type LoginRule, type Provider, type ProviderModes } from './provider.ts'

export interface ProviderSources {
  /** `--providers` */
  readonly file: string | undefined
  /** `--acp-command`: command lines or their words, by provider. */
  readonly commands: Readonly<Record<string, string | readonly string[]>>
}

/** The built-in table with what the operator says. @throws AppError `bad_request`, `storage_failed` */
export async function loadProviders({ file, commands }: ProviderSources): Promise<readonly Provider[]> {
  const words = Object.entries(commands).map(([name, command]) => [name, wordsOf(command)] as const)
  return withCommands(file === undefined ? builtInProviders : await readProvidersFile(file), Object.fromEntries(words))
}

async function readProvidersFile(path: string): Promise<readonly Provider[]> {
  const content = await readJsonFile(path)
  if (content === undefined) throw new AppError('bad_request', `Cannot read the providers file "${path}": it is not there`)
  return withProvidersFile(builtInProviders, content)
}

function wordsOf(command: string | readonly string[]): readonly string[] {
  return typeof command === 'string' ? splitCommand(command) : command
}

/**
 * The table with the entries of a providers file.
 * @throws AppError `bad_request` that names the entry and its wrong members.
 */
export function withProvidersFile(providers: readonly Provider[], file: unknown): Provider[] {
  if (!isObject(file)) throw refusal('the providers file', 'an object of entries by name')
  const result = [...providers]
  for (const [name, entry] of Object.entries(file)) {
    const index = result.findIndex((provider) => provider.name === name)
    const provider = readEntry(name, entry, result[index])
    if (index === -1) result.push(provider)
    else result[index] = provider
  }
  return result
}

function readEntry(name: string, entry: unknown, existing: Provider | undefined): Provider {
  const what = `the entry ${JSON.stringify(name)} of the providers file`
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)) throw refusal(what, 'a name of small letters, digits, ".", "_", "-"')
  if (name === customServer) throw refusal(what, 'another name')
  if (!isObject(entry)) throw refusal(what, 'an object')
  const provider: unknown = { ...(existing ?? blankProvider(name)), ...entry, name }
  if (!isProvider(provider)) throw refusal(what, wrongMembers(provider, providerShape).join('; '))
  return provider
}

function refusal(what: string, expected: string): AppError {
  return new AppError('bad_request', `Cannot read ${what}: expected ${expected}`)
}

/** What a member must be: the words for a message, and the test. */
interface Rule {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}
type Shape<T> = { readonly [Member in keyof T]-?: Rule }

const isText = (value: unknown): boolean => typeof value === 'string'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const text: Rule = { expected: 'a string', holds: isText }
const name: Rule = { expected: 'a string that is not empty', holds: (value) => isText(value) && value !== '' }
const texts: Rule = { expected: 'an array of strings', holds: areTexts }
const flag: Rule = { expected: 'true or false', holds: (value) => typeof value === 'boolean' }
const path: Rule = {
  expected: 'a relative path without ".."',
  holds: (value) => typeof value === 'string' && /^(?!\/)(?!.*\.\.)./.test(value),
}
const textsByName: Rule = {
  expected: 'an object of strings',
  holds: (value) => isObject(value) && Object.values(value).every(isText),
}
const pathsByName: Rule = {
  expected: 'an object of relative paths without ".."',
  holds: (value) => isObject(value) && Object.values(value).every(path.holds),
}
const words: Rule = {
  expected: 'an array of strings that is not empty',
  holds: (value) => areTexts(value) && String(value) !== '',
}

function oneOf(...values: readonly string[]): Rule {
  return { expected: `one of ${values.join(', ')}`, holds: (value) => values.some((known) => known === value) }
}

function orNull(rule: Rule): Rule {
  return { expected: `${rule.expected} or null`, holds: (value) => value === null || rule.holds(value) }
}

function objectOf<T>(shape: Shape<T>): Rule {
  return {
    expected: `an object of ${Object.keys(shape).join(', ')}`,
    holds: (value) => wrongMembers(value, shape).length === 0,
  }
}

const optionalTexts: Rule = { expected: 'an array of strings', holds: (value) => value === undefined || areTexts(value) }
const modesShape: Shape<ProviderModes> = { asking: name, open: name, moreOpen: texts, closed: optionalTexts }
const choiceShape: Shape<LoginChoice> = { file: path, path: texts, login: texts }
const loginShape: Shape<LoginRule> = {
  folder: path,
  file: path,
  followsConfigDir: flag,
  member: orNull(name),
  accessTokens: texts,
  refreshTokens: texts,
  expiry: orNull(name),
  tokenVariables: texts,
  keychain: flag,
  choice: orNull(objectOf(choiceShape)),
}
const providerShape: Shape<Provider> = {
  name,
  displayName: name,
  command: words,
  packageName: text,
  version: text,
  binary: text,
  programs: pathsByName,
  installCommand: text,
  prefix: name,
  apiKeyVariable: text,
  otherKeyVariables: texts,
  baseUrlVariable: text,
  configDirVariable: text,
  dataDirVariable: text,
  homeVariable: name,
  variables: texts,
  defaults: textsByName,
  loginCommand: text,
  login: orNull(objectOf(loginShape)),
  baseUrlVia: oneOf('environment', 'codex-config', 'gateway'),
  publicBaseUrl: orNull(name),
  configDirStripsKey: flag,
  keyMethod: orNull(name),
  loginMethod: orNull(name),
  defaultModel: orNull(name),
  models: texts,
  modes: orNull(objectOf(modesShape)),
}

function isProvider(value: unknown): value is Provider {
  return wrongMembers(value, providerShape).length === 0
}

/** One text per member that is missing, wrong or unknown. */
function wrongMembers<T>(value: unknown, shape: Shape<T>): string[] {
  if (!isObject(value)) return ['an object']
  const rules = new Map<string, Rule>(Object.entries(shape))
  const unknown = Object.keys(value).filter((member) => !rules.has(member))
  const wrong = [...rules].filter(([member, rule]) => !rule.holds(value[member]))
  return [
    ...unknown.map((member) => `no member ${JSON.stringify(member)}`),
    ...wrong.map(([member, rule]) => `"${member}" to be ${rule.expected}`),
  ]
}
