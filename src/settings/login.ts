/**
 * Detects whether an agent's program is signed in: `yes`, `no`, or `unknown` for a keychain, which is not read.
 *
 * Looks at variables with tokens, and at the files in which the program stores its login (spec: Credentials 2 and 4).
 * An unreadable file counts as missing.
 */
import { join } from 'node:path'
import { isObject } from '../base/json.ts'
import { readJsonFile } from '../base/json-file.ts'
import type { Clock } from '../base/stamp.ts'
import type { LoginRule, Provider } from './provider.ts'

/** The largest login file that is read. Real files have a few kilobytes. */
const fileLimitBytes = 1024 * 1024

export type LoginState = 'yes' | 'no' | 'unknown'

type Environment = Readonly<Record<string, string | undefined>>

export interface DetectLoginOptions {
  readonly environment: Environment
  readonly platform: NodeJS.Platform
  readonly clock: Clock
}

export async function detectLogin(provider: Provider, options: DetectLoginOptions): Promise<LoginState> {
  const { login } = provider
  if (login === null) return 'no'
  const { environment, platform, clock } = options
  if (login.tokenVariables.some((name) => isSet(environment[name]))) return 'yes'
  const folder = loginFolder(provider, login, environment)
  if (folder === undefined) return 'no'
  const [credentials, chosen] = await Promise.all([readJson(join(folder, login.file)), readChoice(folder, login)])
  if (holdsLogin(credentials, login, clock)) return chosen === false ? 'no' : 'yes'
  return login.keychain && platform === 'darwin' ? 'unknown' : 'no'
}

/** True for a value that is not blank. A blank value means no credential (spec: Credentials 8). */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

function loginFolder(provider: Provider, login: LoginRule, environment: Environment): string | undefined {
  const configDir = environment[provider.configDirVariable]
  if (login.followsConfigDir && isSet(configDir)) return configDir
  const home = [environment[provider.homeVariable], environment['HOME']].find(isSet)
  return home === undefined ? undefined : join(home, login.folder)
}

/** Returns whether the sign-in method that the user chose is this rule's login; undefined if no choice is stored. */
async function readChoice(folder: string, { choice }: LoginRule): Promise<boolean | undefined> {
  if (choice === null) return undefined
  let value = await readJson(join(folder, choice.file))
  for (const member of choice.path) value = memberOf(value, member)
  return typeof value === 'string' ? choice.login.includes(value) : undefined
}

function holdsLogin(credentials: unknown, login: LoginRule, clock: Clock): boolean {
  const tokens = login.member === null ? credentials : memberOf(credentials, login.member)
  const has = (names: readonly string[]): boolean => names.some((name) => isToken(memberOf(tokens, name)))
  if (has(login.refreshTokens)) return true
  const expiry = login.expiry === null ? undefined : memberOf(tokens, login.expiry)
  return has(login.accessTokens) && !(typeof expiry === 'number' && expiry <= clock())
}

function isToken(value: unknown): boolean {
  return typeof value === 'string' && isSet(value)
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

async function readJson(path: string): Promise<unknown> {
  try {
    return await readJsonFile(path, { limitBytes: fileLimitBytes })
  } catch {
    return undefined // An unreadable file counts as missing.
  }
}
