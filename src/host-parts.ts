/**
 * The parts of a server for a host: its own parts, the part `host` for its own agent, model and tools, and the parts of
 * this build.
 *
 * The parts of the host come first, so their offers win. They are loaded even if the option `parts` names other parts.
 */
import type { HostModels, HostTool } from './agents/from-host.ts'
import { AppError } from './base/errors.ts'
import type { Log } from './base/log.ts'
import type { Agent } from './conversation/agent/agent.ts'
import type { AgentHost } from './conversation/agent/host.ts'
import type { Offers } from './offers.ts'
import type { Part } from './part.ts'

/** Everything that a host may hand to its server in place of, or in addition to, the work of the server's parts. */
export interface HostParts {
  /** Creates the agent of each conversation whose settings have the kind `Agent`. Default: the built-in agent. */
  readonly agent?: ((host: AgentHost, log: Log) => Agent) | undefined
  /** Models for the built-in agent. Default: none besides the models of the known providers. */
  readonly models?: HostModels | undefined
  /** Tools for the built-in agent. A tool takes the place of the agent's own tool of its name. Default: none. */
  readonly tools?: readonly HostTool[] | undefined
  /** The host's own parts: routes, sockets and offers (`part.ts`). Default: none. */
  readonly ownParts?: readonly Part[] | undefined
}

/** Returns all parts of the server. @throws AppError `invalid_option` for a wrong name, or a name given twice */
export function partsOf(given: HostParts, built: readonly Part[]): readonly Part[] {
  const { ownParts = [] } = given
  const parts = [...ownParts, ...hostPart(given), ...built]
  const names = parts.map(({ name }) => name)
  for (const { name } of ownParts) {
    if (!/^[a-z][a-z-]*$/.test(name)) throw unusable(`the name "${name}" of a part`, 'lower-case letters and "-"')
    if (names.indexOf(name) !== names.lastIndexOf(name)) throw unusable(`the part "${name}"`, 'a name of its own')
  }
  return parts
}

/** Returns the names for the option `parts`, so that it never leaves a part of the host out. */
export function wantedParts(wanted: readonly string[], given: HostParts): readonly string[] {
  if (wanted.length === 0) return []
  return [...wanted, ...[...(given.ownParts ?? []), ...hostPart(given)].map(({ name }) => name)]
}

function hostPart({ agent, models, tools = [] }: HostParts): readonly Part[] {
  for (const { name } of tools) {
    const isName = /^[A-Za-z0-9_-]{1,64}$/.test(name) && !name.endsWith('Tool')
    if (!isName) throw unusable(`the tool "${name}"`, '1 to 64 letters, digits, "_" and "-", and no "Tool" at the end')
    if (tools.filter((tool) => tool.name === name).length > 1) throw unusable(`the tool "${name}" twice`, 'it once')
  }
  const offers: Partial<Offers> = {
    ...(agent === undefined ? {} : { builtInAgent: { create: agent, titleByProfile: async () => undefined } }),
    ...(models === undefined ? {} : { hostModels: models }),
    ...(tools.length === 0 ? {} : { hostTools: tools }),
  }
  const names = (['builtInAgent', 'hostModels', 'hostTools'] as const).filter((name) => offers[name] !== undefined)
  if (names.length === 0) return []
  return [{
    name: 'host',
    about: 'The agent, the models and the tools of the program that embeds this server',
    offers: names,
    tools: async () => tools.map(({ name }) => name),
    load: async () => ({ start: () => ({ offers }) }),
  }]
}

function unusable(what: string, expected: string): AppError {
  return new AppError('invalid_option', `Could not use ${what}: expected ${expected}`)
}
