/**
 * Builds the environment of a child process from an allow-list of the server's own environment.
 *
 * Variables that configure this server, such as its keys, are not copied. Secrets override copied variables, and
 * variables that the server sets itself override secrets.
 */
import { isAbsolute } from 'node:path'
import { AppError } from '../base/errors.ts'
import { isLoaderVariable } from '../base/loader-variable.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface EnvironmentOptions {
  /** The server's environment. */
  readonly server: Environment
  /** The names of variables to copy from `server` besides `baseVariables`, such as those of `--pass-env`. */
  readonly pass?: readonly string[]
  /** Secrets and configured variables. Later elements override earlier elements. */
  readonly secrets?: readonly Environment[]
  /** Variables that this server sets. They override all other variables. */
  readonly own?: Environment
}

/** Returns the home folder of the server's user; undefined when the environment names no absolute path. */
export function homeDirOf({ HOME: home }: Environment): string | undefined {
  return home !== undefined && isAbsolute(home) ? home : undefined
}

/** The variables that `buildEnvironment` always copies from the server's environment, besides every `LC_*`. */
export const baseVariables: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'SHELL', 'TERM',
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
  'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS',
]

/**
 * Builds the environment of one child.
 * @throws AppError `invalid_input` for a secret with the name of a loader variable (base/loader-variable), and for an
 * impossible name or value
 */
export function buildEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { server, pass = [], secrets = [], own = {} } = options
  const result: Record<string, string> = {}
  const named = new Set([...baseVariables, ...pass])
  for (const [name, value] of Object.entries(server)) {
    if (value === undefined || isServerVariable(name)) continue
    if (named.has(name) || name.startsWith('LC_')) result[name] = value
  }
  for (const variables of secrets) {
    for (const name of Object.keys(variables)) {
      if (isLoaderVariable(name)) throw cannotSet(name, 'it changes how programs load')
    }
  }
  for (const variables of [...secrets, own]) {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) continue
      assertPossible(name, value)
      result[name] = value
    }
  }
  return result
}

/** True for variables that configure this server. Children do not get them from the server's environment. */
export function isServerVariable(name: string): boolean {
  return name === 'SESSION_API_KEY' || name.startsWith('AGENT_SERVER_') || name.startsWith('OH_')
}

function assertPossible(name: string, value: string): void {
  if (name === '' || /[=\0]/.test(name)) throw cannotSet(name, 'expected a name without "=" or NUL')
  if (value.includes('\0')) throw cannotSet(name, 'its value holds a NUL character')
}

function cannotSet(name: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot set the variable ${JSON.stringify(name)}: ${why}`)
}
