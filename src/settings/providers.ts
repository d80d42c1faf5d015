/**
 * Finds the provider, command and model that ACP settings choose. After a client has changed some of these members,
 * sets the other members to fit them (contract/settings.md, sections 3.3 and 5; decisions 21).
 */
import { AppError } from '../base/errors.ts'
import { isAcpServer, type AcpAgentSettings, type AcpServer } from '../schema/generated/settings.ts'
import type { Provider } from './provider.ts'

export type { Provider } from './provider.ts'

/** The value of `acp_server` for a command that belongs to no preset. */
export const customServer = 'custom' satisfies AcpServer

/** The members of ACP settings that select the agent and its model. */
export type AcpChoice = Pick<AcpAgentSettings, 'acp_server' | 'acp_command' | 'acp_model'>

/** An `AcpChoice` that has not been validated: `acp_server` may be any text. */
export interface AcpQuery {
  readonly acp_server: string
  readonly acp_command: readonly string[]
  readonly acp_model?: string | null
}

export interface ResolvedAcp {
  /** The entry of the provider table that the settings choose; undefined if they fit none. */
  readonly provider: Provider | undefined
  /** The program and its arguments, without `acp_args`. Empty if neither the settings nor `provider` has a command. */
  readonly command: readonly string[]
  /** The model; undefined when the agent chooses the model. */
  readonly model: string | undefined
}

/**
 * Returns the provider, command and model that stored settings mean. `acp_server` names the provider. If it is
 * `custom`, the provider is none of the presets: the command is only its name, or `detectProvider` finds it. The
 * provider's command replaces such a name or an empty command. Its default model replaces a missing model.
 */
export function resolveAcp(choice: AcpQuery, providers: readonly Provider[]): ResolvedAcp {
  const { acp_server, acp_command, acp_model } = choice
  const others = providers.filter(({ name }) => !isAcpServer(name))
  const isCustom = acp_server === customServer
  const named = isCustom && acp_command.length === 1 ? others.find(({ name }) => name === acp_command[0]) : undefined
  const provider = named
    ?? (isCustom ? detectProvider(acp_command, others) : providers.find(({ name }) => name === acp_server))
  const isOwnCommand = acp_command.length > 0 && named === undefined
  return {
    provider,
    command: isOwnCommand ? acp_command : (provider?.command ?? []),
    model: acp_model ?? provider?.defaultModel ?? undefined,
  }
}

/** Returns the words that start the agent. @throws AppError `agent_failed` when `resolveAcp` finds no command. */
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
  /** The words after the package: the arguments of its program. */
  readonly args: readonly string[]
  /** True when the command begins with `npx`, `-y` and the package in the version that the provider pins. */
  readonly isPreset: boolean
}

/** Parses an npx command of the provider's package, in any version; undefined for other commands. */
export function parseNpxCall(command: readonly string[], provider: Provider): NpxCall | undefined {
  const [program = '', ...words] = command
  if (lastSegment(program) !== 'npx' || provider.packageName === '') return undefined
  const index = words.findIndex((word) => !word.startsWith('-'))
  if (withoutVersion(words[index] ?? '') !== provider.packageName) return undefined
  const preset = ['npx', '-y', `${provider.packageName}@${provider.version}`]
  return { args: words.slice(index + 1), isPreset: preset.every((word, place) => word === command[place]) }
}

/**
 * Returns the first provider whose `prefix` begins a word of the command, or whose `binary` is its first word;
 * undefined without such a provider. Words are compared in lower case, without path and version.
 */
export function detectProvider(command: readonly string[], providers: readonly Provider[]): Provider | undefined {
  const words = command.map((word) => withoutVersion(lastSegment(word).toLowerCase()))
  return providers.find(({ prefix, binary }) => words.some((word) => word.startsWith(prefix)) || words[0] === binary)
}

/**
 * Completes the ACP members of settings after a diff. `previous` is `acp_server` before the diff; undefined when the
 * diff changes the agent kind.
 *
 * - A diff with a command that is not empty, and without `acp_server`, sets the `acp_server` that fits the command.
 * - A diff with a preset and without a command empties the command.
 * - A change of `acp_server` without a model in the diff removes the model, which the new provider may not know.
 * - A preset without a model gets its default model.
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
 * Returns the table with the commands of `--acp-command PROVIDER=COMMAND`.
 * @throws AppError `bad_request` for an unknown provider
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

/** Removes the version of a package name. A leading `@` marks a scope, not a version. */
function withoutVersion(word: string): string {
  const at = word.lastIndexOf('@')
  return at > 0 ? word.slice(0, at) : word
}
