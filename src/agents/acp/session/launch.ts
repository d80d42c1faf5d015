/**
 * Plans the start of an agent program: its command, its environment and its credentials (contract/spec: "Credentials
 * of external agents"; decisions 23).
 */
import { join } from 'node:path'
import { makeFolder, makeTemporaryFolder, privateFolder, removeTree } from '../../../base/own-files.ts'
import type { Clock } from '../../../base/stamp.ts'
import { buildEnvironment, type Environment } from '../../../process/environment.ts'
import type { AcpFileSecret } from '../../../schema/generated/settings.ts'
import { planCredentials, type Authentication } from '../../../settings/credentials.ts'
import { detectLogin } from '../../../settings/login.ts'
import { detectProvider, launchCommand, resolveAcp, type Provider } from '../../../settings/providers.ts'
import { lendFiles, type LendOptions, type LentFiles } from './credential-files.ts'
import { findProgram, type ProgramOptions } from './program.ts'
import type { SignIn } from './sign-in.ts'

/** The ACP agent settings that `agents/acp` uses (contract/settings.md, section 3.3). Times are in seconds. */
export interface AcpSettings {
  readonly acp_server: string
  readonly acp_command: readonly string[]
  readonly acp_args: readonly string[]
  readonly acp_model?: string | null
  readonly acp_session_mode?: string | null
  readonly acp_prompt_timeout: number
  readonly acp_startup_timeout: number
  readonly mcp_config: Readonly<Record<string, unknown>>
  readonly acp_file_secrets: readonly AcpFileSecret[]
  readonly acp_isolate_data_dir: boolean
  readonly acp_env: Readonly<Record<string, string>>
  readonly acp_unasked_calls: 'stop' | 'allow'
}

export interface LaunchOptions extends Omit<LendOptions, 'fileSecrets'>, ProgramOptions {
  /** The agent programs (paths of JavaScript files) of optional modules, by the first word of their command. */
  readonly programs: Readonly<Record<string, string>>
  /** The folder for temporary homes of programs. The next start of the server removes leftover homes. */
  readonly runtimeDir: string
  readonly settings: AcpSettings
  readonly providers: readonly Provider[]
  /** The server's environment. A child gets only some of its variables (`environmentFor`). */
  readonly environment: Environment
  /** The names of the server's variables that `--pass-env` allows for children. */
  readonly passEnvironment: readonly string[]
  readonly platform: NodeJS.Platform
  readonly clock: Clock
  /** The names of the conversation's secrets among `secrets`. The other secrets are global. */
  readonly ownSecretNames: ReadonlySet<string>
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
  readonly authenticate: Authentication | undefined
  readonly signIn: SignIn
  /** The model; undefined when the agent chooses it. */
  readonly model: string | undefined
  /** If the program changed its credential files, stores their new texts in the secrets. Never rejects. */
  readBack(): Promise<void>
  /** Removes the credential files and the temporary home of this child. Call it after the child has ended. */
  cleanUp(): Promise<void>
}

/**
 * Plans a start and writes the credential files for the program.
 * @throws AppError for a start that the settings do not allow; AcpFailure `ACPSpawnError`; the errors of `lendFiles`
 */
export async function planLaunch(options: LaunchOptions): Promise<Launch> {
  const { settings, secrets, log, makeSecretDir, agentDir, replaceSecret, watchIntervalMs } = options
  const fileSecrets = settings.acp_file_secrets
  for (const { secret_name, warn_if_unset } of fileSecrets) {
    const unset = secrets.has(secret_name) ? warn_if_unset.filter((name) => !secrets.has(name)) : []
    if (unset.length === 0) continue
    const problem = 'A credential file is lent although secrets that it needs are not set'
    log.warn(problem, { secret_name, unset: unset.join(', ') })
  }
  const files = await lendFiles({ fileSecrets, secrets, makeSecretDir, agentDir, replaceSecret, log, watchIntervalMs })
  try {
    return await planWith(files, options)
  } catch (error) {
    await files.close()
    throw error
  }
}

async function planWith(files: LentFiles, options: LaunchOptions): Promise<Launch> {
  const { settings, providers, platform, clock } = options
  const { acp_server, acp_command, acp_args, acp_model } = settings
  const choice = { acp_server, acp_command, acp_args, ...(typeof acp_model === 'string' ? { acp_model } : {}) }
  const words = withOwnProgram(launchCommand(choice, providers), options.programs)
  const { provider = detectProvider(acp_command, providers), model } = resolveAcp(choice, providers)
  const dataFolder = await makeDataFolder(provider, options)
  const env = environmentFor(provider, options, { ...dataFolder, ...files.variables })
  const shared = { env, model, readBack: () => files.readBack() }
  if (provider === undefined) {
    const signIn = { provider, login: 'no', removed: [] } as const
    return { ...shared, ...split(words), authenticate: undefined, signIn, cleanUp: () => files.close() }
  }
  const program = await findProgram(words, provider, env['PATH'] ?? '', options)
  const login = await detectLogin(provider, { environment: env, platform, clock })
  const { remove, add, authenticate, ownHome } = planCredentials({ provider, environment: env, login })
  for (const name of remove) delete env[name]
  Object.assign(env, add)
  // The conversation's data folder may already be the home: then the program needs no temporary home.
  const needsHome = ownHome && dataFolder[provider.homeVariable] === undefined
  const removeHome = needsHome ? await giveHome(env, provider.homeVariable, options.runtimeDir) : nothing
  return {
    ...shared,
    ...split(program),
    authenticate,
    signIn: { provider, login, removed: remove },
    cleanUp: () => files.close().finally(removeHome),
  }
}

/**
 * Makes the conversation's own data folder for the program, if the settings ask for the folder and the provider has a
 * variable for it. Returns the variable, or an empty object without such a folder.
 */
async function makeDataFolder(provider: Provider | undefined, options: LaunchOptions): Promise<Record<string, string>> {
  if (!options.settings.acp_isolate_data_dir || provider === undefined || provider.dataDirVariable === '') return {}
  const folder = join(options.agentDir, provider.name)
  await makeFolder(folder, privateFolder)
  return { [provider.dataDirVariable]: folder }
}

/**
 * Returns the child's variables. A later source overrides an earlier one: the provider's defaults, the server's allowed
 * variables, global secrets, `acp_env`, the conversation's secrets, `own`. Leaves out secrets in credential files.
 */
function environmentFor(
  provider: Provider | undefined,
  { settings, secrets, ownSecretNames, environment, passEnvironment }: LaunchOptions,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const { variables = [], defaults = {} } = provider ?? {}
  const inFiles = new Set(settings.acp_file_secrets.map(({ secret_name }) => secret_name))
  const namedSecrets = (isOwn: boolean): Record<string, string> => {
    const named = [...secrets].filter(([name]) => !inFiles.has(name) && ownSecretNames.has(name) === isOwn)
    return Object.fromEntries(named)
  }
  const given = buildEnvironment({
    server: environment,
    pass: [...passEnvironment, ...variables, ...Object.keys(defaults)],
    secrets: [namedSecrets(false), settings.acp_env, namedSecrets(true)],
    own,
  })
  return { ...defaults, ...given }
}

function split([command = '', ...args]: readonly string[]): Pick<Launch, 'command' | 'args'> {
  return { command, args }
}

/** Returns the command; a first word that is in `programs` is replaced by Node and the program's path. */
function withOwnProgram(command: readonly string[], programs: LaunchOptions['programs']): readonly string[] {
  const [word = '', ...args] = command
  const program = Object.hasOwn(programs, word) ? programs[word] : undefined
  return program === undefined ? command : [process.execPath, program, ...args]
}

async function giveHome(
  env: Record<string, string>,
  variable: string,
  runtimeDir: string,
): Promise<() => Promise<void>> {
  const home = await makeTemporaryFolder(join(runtimeDir, 'home-'))
  env[variable] = home
  return () => removeTree(home)
}

async function nothing(): Promise<void> {}
