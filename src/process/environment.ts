/**
 * The environment of a child process: an allow-list of the server's own environment, with overlays on top.
 *
 * Nothing of the server's environment reaches a child unless it is in the base set below, is named by the operator
 * (`--pass-env`) or is a variable of the provider that the child belongs to. The server's own keys never do, whoever
 * names them. Secrets win over all of that, a later one over an earlier one, and may have any name except those that steer
 * programs (`loader-variable`). Variables that the server sets itself win over secrets and may have any name.
 * Pure: what it reads is an argument, what it makes is new.
 */
import { AppError } from '../base/errors.ts'
import { isLoaderVariable } from '../base/loader-variable.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface EnvironmentOptions {
  /** The server's environment. */
  readonly server: Environment
  /** Names to take from it besides the base set: the operator's extras and the provider's own variables. */
  readonly pass?: readonly string[]
  /** Secrets by name, in order: global ones, then the conversation's own. */
  readonly secrets?: readonly Environment[]
  /** Variables that the settings of the program or this server have chosen, such as the folder that it is to use. */
  readonly own?: Environment
}

/** What every child gets from the server's environment, as far as it is set there; and every `LC_*`. */
export const baseVariables: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'SHELL', 'TERM',
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
  'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS',
]

/**
 * Builds the environment of one child.
 * @throws AppError `invalid_input` when a secret has a name, or a variable a name or a value, that no child may be given.
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
    for (const name of Object.keys(variables)) if (isLoaderVariable(name)) throw cannotSet(name, 'it changes how programs load')
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

/** True for what configures this server and its keys: it stays here. */
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
