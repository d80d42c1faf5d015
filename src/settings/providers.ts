/**
 * The provider table at work: which provider a command belongs to, which command and model a provider means, and what
 * a settings diff changes along with what it says (contract/settings.md 3.3 and 5; decisions 21).
 *
 * Pure functions over the table. `--providers FILE` and `--acp-command` are applied here; nothing is started here.
 */
import { AppError } from '../base/errors.ts'
import { isAcpServer, type AcpAgentSettings, type AcpServer } from '../schema/generated/settings.ts'
import type { Provider } from './provider.ts'

export type { Provider } from './provider.ts'

/** The value of `acp_server` for a command that belongs to no preset. */
export const customServer = 'custom' satisfies AcpServer

/** The members of ACP settings that say which agent. */
export type AcpChoice = Pick<AcpAgentSettings, 'acp_server' | 'acp_command' | 'acp_model'>

/** As `AcpChoice`, from wherever it comes. */
export interface AcpQuery {
  readonly acp_server: string
  readonly acp_command: readonly string[]
  readonly acp_model?: string | null
}

export interface ResolvedAcp {
  /** Undefined for a custom server that is in no table. */
  readonly provider: Provider | undefined
  /** The program and its arguments, without `acp_args`. Empty only for a custom server without a command. */
  readonly command: readonly string[]
  /** Undefined only where nothing is known about models: whatever the agent takes by itself. */
  readonly model: string | undefined
}

/**
 * What the stored choice means: an empty command is the provider's, a missing model its default. The wire knows three
 * presets; every other entry of the table is a custom server. A command that is nothing but the name of the entry stands
 * for the entry's own command; any other tells the entry by the program that it starts.
 */
export function resolveAcp(choice: AcpQuery, providers: readonly Provider[]): ResolvedAcp {
  const { acp_server, acp_command, acp_model } = choice
  const others = providers.filter(({ name }) => !isAcpServer(name))
  const named = acp_server === customServer && acp_command.length === 1 ? others.find(({ name }) => name === acp_command[0]) : undefined
  const provider = named
    ?? (acp_server === customServer ? detectProvider(acp_command, others) : providers.find(({ name }) => name === acp_server))
  const isOwnCommand = acp_command.length > 0 && named === undefined
  return {
    provider,
    command: isOwnCommand ? acp_command : (provider?.command ?? []),
    model: acp_model ?? provider?.defaultModel ?? undefined,
  }
}

/**
 * The words that start the agent.
 * @throws AppError `agent_failed` for a custom server without a command.
 */
export function launchCommand(
  choice: AcpQuery & { readonly acp_args: readonly string[] },
  providers: readonly Provider[],
): string[] {
  const { command } = resolveAcp(choice, providers)
  if (command.length === 0) {
    const expected = `expected a command for "${choice.acp_server}"`
    throw new AppError('agent_failed', `Cannot start the ACP agent: "acp_command" is empty, ${expected}`)
  }
  return [...command, ...choice.acp_args]
}

/** An npx command that names the provider's package. */
export interface NpxCall {
  /** What follows the package: the arguments of its program. */
  readonly args: readonly string[]
  /** Word for word as a preset has it: npx, `-y` and the pinned version. Otherwise somebody wrote it himself. */
  readonly isPreset: boolean
}

/** Undefined for a command that is no npx of the provider's package. The version is up to the command. */
export function parseNpxCall(command: readonly string[], provider: Provider): NpxCall | undefined {
  const [program = '', ...words] = command
  if (lastSegment(program) !== 'npx' || provider.packageName === '') return undefined
  const index = words.findIndex((word) => !word.startsWith('-'))
  if (withoutVersion(words[index] ?? '') !== provider.packageName) return undefined
  const preset = ['npx', '-y', `${provider.packageName}@${provider.version}`]
  return { args: words.slice(index + 1), isPreset: preset.every((word, place) => word === command[place]) }
}

/**
 * The provider that a command starts: the first one of which a word begins with the prefix, or whose program it runs.
 * A word counts from its last `/`, in lower case, without a version.
 */
export function detectProvider(command: readonly string[], providers: readonly Provider[]): Provider | undefined {
  const words = command.map((word) => withoutVersion(lastSegment(word).toLowerCase()))
  return providers.find(({ prefix, binary }) => words.some((word) => word.startsWith(prefix)) || words[0] === binary)
}

/**
 * The ACP members of merged settings, completed by what the diff implies; `previous` is the server before, undefined
 * after a change of the agent kind. A command without a server finds its server; a preset without a command takes the
 * preset's (stored as `[]`); a change of server without a model takes the new one's default, since model ids mean
 * nothing to another provider; a preset is never left without a model. What the diff says itself stays.
 */
export function completeAcpChoice(
  merged: AcpChoice,
  diff: Readonly<Record<string, unknown>>,
  previous: AcpServer | undefined,
  providers: readonly Provider[],
): AcpChoice {
  const says = (member: keyof AcpChoice): boolean => Object.hasOwn(diff, member)
  const detects = says('acp_command') && !says('acp_server') && merged.acp_command.length > 0
  const acp_server = detects ? serverOf(merged.acp_command, providers) : merged.acp_server
  const preset = providers.find(({ name }) => name === acp_server)
  const takesPreset = says('acp_server') && !says('acp_command') && preset !== undefined
  const keepsModel = says('acp_model') || acp_server === previous
  return {
    acp_server,
    acp_command: takesPreset ? [] : merged.acp_command,
    acp_model: (keepsModel ? merged.acp_model : null) ?? preset?.defaultModel ?? null,
  }
}

function serverOf(command: readonly string[], providers: readonly Provider[]): AcpServer {
  const name = detectProvider(command, providers)?.name
  return isAcpServer(name) ? name : customServer
}

/**
 * The table with the commands of `--acp-command PROVIDER=COMMAND` in the place of its own.
 * @throws AppError `bad_request` for a provider that is not in the table.
 */
export function withCommands(
  providers: readonly Provider[],
  commands: Readonly<Record<string, readonly string[]>>,
): Provider[] {
  const unknown = Object.keys(commands).find((name) => !providers.some((provider) => provider.name === name))
  if (unknown !== undefined) {
    const expected = providers.map(({ name }) => `"${name}"`).join(', ')
    throw new AppError('bad_request', `Cannot set the command of provider "${unknown}": expected one of ${expected}`)
  }
  return providers.map((provider) => ({ ...provider, command: commands[provider.name] ?? provider.command }))
}

function lastSegment(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

/** The `@` at the beginning of a scoped package is no version. */
function withoutVersion(word: string): string {
  const at = word.lastIndexOf('@')
  return at > 0 ? word.slice(0, at) : word
}
