/**
 * Selects the program to start for the command of an agent (contract/settings.md, section 5).
 *
 * An npx command of the provider's package is replaced by the installed agent, or by the provider's program on the
 * PATH. npx downloads unreviewed code, so the provider's own npx command runs only with `--allow-npx`.
 */
import { delimiter, isAbsolute, join } from 'node:path'
import { messageOf } from '../../../base/errors.ts'
import { existsSync } from '../../../base/read-files.ts'
import { parseNpxCall, type Provider } from '../../../settings/providers.ts'
import { AcpFailure } from './failure.ts'

export interface ProgramOptions {
  /** Returns the command of an installed agent, or undefined if it is not installed. Default: no agent is installed. */
  readonly installedCommand?: (name: string) => Promise<readonly string[] | undefined>
  /** True with `--allow-npx`: npx may download an agent. Default false. */
  readonly allowNpx?: boolean
}

/**
 * Returns the command to start.
 * @throws AcpFailure `ACPSpawnError` if the agent is not installed, or if `installedCommand` fails
 */
export async function findProgram(
  command: readonly string[],
  provider: Provider,
  path: string,
  options: ProgramOptions,
): Promise<readonly string[]> {
  const call = parseNpxCall(command, provider)
  if (call === undefined && isMissing(command, provider, path)) {
    const advice = `install it with "${provider.installCommand}"`
    throw new AcpFailure('ACPSpawnError', `The agent "${provider.name}" is not installed: ${advice}`)
  }
  if (call === undefined) return command
  const installed = await options.installedCommand?.(provider.name).catch((error: unknown) => {
    throw new AcpFailure('ACPSpawnError', messageOf(error), error)
  })
  if (installed !== undefined) return [...installed, ...call.args]
  if (isOnPath(provider.binary, path)) return [provider.binary, ...call.args]
  if (options.allowNpx === true || !call.isPreset) return command
  const advice = `install it with "agent-server agents install ${provider.name}", or allow npx with --allow-npx`
  throw new AcpFailure('ACPSpawnError', `The agent "${provider.name}" is not installed: ${advice}`)
}

/** True when the command is the provider's `binary`, is not on the PATH and has to be installed by the user. */
export function isMissing(command: readonly string[], { binary, installCommand }: Provider, path: string): boolean {
  return installCommand !== '' && command[0] === binary && !isOnPath(binary, path)
}

/** Finds a program in absolute folders of the PATH. A relative folder would depend on the agent's working folder. */
function isOnPath(program: string, path: string): boolean {
  if (program === '') return false
  return path.split(delimiter).some((folder) => isAbsolute(folder) && existsSync(join(folder, program)))
}
