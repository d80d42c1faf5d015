/**
 * How an agent program is started: its command, its environment, its credentials (spec, "Credentials of external agents";
 * decisions, 23).
 *
 * The rules themselves are the settings' (providers, login, credentials) and the process folder's (environment); here they
 * are applied in order to one child. Nothing is read from this process: the server's environment is an argument.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { delimiter, extname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../base/stamp.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import { planCredentials, type Authentication } from '../../settings/credentials.ts'
import { detectLogin } from '../../settings/login.ts'
import { detectProvider, launchCommand, preferBinary, resolveAcp, type Provider } from '../../settings/providers.ts'
import { demoAgentName } from '../demo/modes.ts'

/** The members of ACP agent settings that are used here (contract/settings.md 3.3). Times are in seconds. */
export interface AcpSettings {
  readonly acp_server: string
  readonly acp_command: readonly string[]
  readonly acp_args: readonly string[]
  readonly acp_model?: string | null
  readonly acp_session_mode?: string | null
  readonly acp_prompt_timeout: number
  readonly acp_startup_timeout: number
  readonly mcp_config: Readonly<Record<string, unknown>>
}

export interface LaunchOptions {
  readonly settings: AcpSettings
  readonly secrets: ReadonlyMap<string, string>
  readonly providers: readonly Provider[]
  /** The server's environment, of which a child gets what it is allowed to. */
  readonly environment: Environment
  /** `--pass-env` */
  readonly passEnvironment: readonly string[]
  /** A private folder for what a child needs only while it runs. */
  readonly runtimeDir: string
  readonly platform: NodeJS.Platform
  readonly clock: Clock
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
  readonly authenticate: Authentication | undefined
  /** Undefined: the agent's own. */
  readonly model: string | undefined
  /** Removes what was made for this child. Call it when the child has ended. */
  cleanUp(): Promise<void>
}

/** @throws AppError when there is no command or a secret has a name that no child may be given. */
export async function planLaunch(options: LaunchOptions): Promise<Launch> {
  const { settings, providers, platform, clock } = options
  const { acp_server, acp_command, acp_args, acp_model } = settings
  const choice = { acp_server, acp_command, acp_args, ...(typeof acp_model === 'string' ? { acp_model } : {}) }
  const words = withDemoAgent(launchCommand(choice, providers))
  const { provider = detectProvider(acp_command, providers), model } = resolveAcp(choice, providers)
  const env = environmentFor(provider, options)
  if (provider === undefined) return { ...split(words), env, authenticate: undefined, model, cleanUp: nothing }
  const login = await detectLogin(provider, { environment: env, platform, clock })
  const plan = planCredentials({ provider, environment: env, login })
  for (const name of plan.remove) delete env[name]
  Object.assign(env, plan.add)
  const cleanUp = plan.ownHome ? await giveHome(env, provider.homeVariable, options.runtimeDir) : nothing
  const installed = preferBinary(words, provider, (program) => isOnPath(program, env['PATH'] ?? ''))
  return { ...split(installed), env, authenticate: plan.authenticate, model, cleanUp }
}

/** The provider's defaults, the server's environment as far as it may be given on, and the secrets on top. */
function environmentFor(provider: Provider | undefined, options: LaunchOptions): Record<string, string> {
  const { variables = [], defaults = {} } = provider ?? {}
  const given = buildEnvironment({
    server: options.environment,
    pass: [...options.passEnvironment, ...variables, ...Object.keys(defaults)],
    overlays: [Object.fromEntries(options.secrets)],
  })
  return { ...defaults, ...given }
}

function split([command = '', ...args]: readonly string[]): Pick<Launch, 'command' | 'args'> {
  return { command, args }
}

/** The demonstration agent is part of this package and need not be on the PATH. */
function withDemoAgent(command: readonly string[]): readonly string[] {
  if (command[0] !== demoAgentName) return command
  const program = fileURLToPath(new URL(`../demo/main${extname(import.meta.url)}`, import.meta.url))
  return [process.execPath, program, ...command.slice(1)]
}

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => isAbsolute(folder) && existsSync(join(folder, program)))
}

async function giveHome(env: Record<string, string>, variable: string, runtimeDir: string): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(runtimeDir, 'home-'))
  env[variable] = home
  return () => rm(home, { recursive: true, force: true })
}

async function nothing(): Promise<void> {}
