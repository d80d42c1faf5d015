/**
 * Lists the parts (modules) of a server that a host program embeds: the host's own parts, a part `host` with its agent,
 * models and tools, and the parts of this build.
 *
 * The host's parts come first, because the server takes an offer from the first part in the list that has it.
 */
import type { HostModels, HostTool } from './agents/from-host.ts'
import { access, allRights } from './access.ts'
import { AppError, messageOf } from './base/errors.ts'
import { isObject } from './base/json.ts'
import type { Log } from './base/log.ts'
import type { Agent } from './conversation/agent/agent.ts'
import type { AgentHost } from './conversation/agent/host.ts'
import { createRouter } from './http/router.ts'
import type { Offers } from './offers.ts'
import type { Part } from './part.ts'

/** What a host adds to its server. The host's agent, tools and offers take precedence over those of the server. */
export interface HostParts {
  /** Creates the agent of each conversation whose settings have the kind `Agent`. Default: the built-in agent. */
  readonly agent?: ((host: AgentHost, log: Log) => Agent) | undefined
  /** Models for the built-in agent. Default: only the models of the known providers. */
  readonly models?: HostModels | undefined
  /** Tools for the built-in agent. A tool replaces the agent's own tool with the same name. Default: none. */
  readonly tools?: readonly HostTool[] | undefined
  /** The host's own parts: routes, sockets and offers (`part.ts`). Default: none. */
  readonly ownParts?: readonly Part[] | undefined
}

/** Returns all parts of the server. @throws AppError `invalid_option` for an unusable value in `given` */
export function partsOf(given: HostParts, built: readonly Part[]): readonly Part[] {
  assertTypes(given)
  const { ownParts = [] } = given
  const parts = [...ownParts, ...hostPart(given), ...built]
  const names = parts.map(({ name }) => name)
  const routes = [...Object.keys(access), ...parts.flatMap(routesOf)]
  for (const part of ownParts) {
    const { name } = part
    if (!/^[a-z][a-z-]*$/.test(name)) throw unusable(`the name "${name}" of a part`, 'lower-case letters and "-"')
    if (isTwice(name, names)) throw unusable(`the part "${name}"`, 'a name of its own')
    if (!Array.isArray(part.needs ?? [])) throw unusable(`the needs of "${name}"`, 'a list of capabilities')
    for (const [route, right] of Object.entries({ ...part.routes, ...part.sockets })) assertRoute(route, right)
    for (const route of [part.forRestricted, part.idle, part.uploads].flatMap((named) => named ?? [])) {
      if (!Object.hasOwn(part.routes ?? {}, route)) throw unusable(`the rule for "${route}"`, `a route of "${name}"`)
    }
  }
  for (const route of ownParts.flatMap(routesOf)) assertFree(route, routes)
  return parts
}

/** Checks the types, because a host may be JavaScript. Refuses an `agent` together with `models` or `tools`. */
function assertTypes({ agent, models, tools = [], ownParts = [] }: HostParts): void {
  for (const [name, value] of Object.entries({ agent, models })) {
    if (value !== undefined && typeof value !== 'function') throw unusable(name, 'a function')
  }
  if (!Array.isArray(ownParts) || !ownParts.every(isObject)) throw unusable('ownParts', 'a list of parts')
  const isTool = (tool: unknown): boolean =>
    isObject(tool) && typeof tool['name'] === 'string' && typeof tool['description'] === 'string' &&
    isObject(tool['parameters']) && typeof tool['run'] === 'function'
  const areTools = Array.isArray(tools) && tools.every(isTool)
  if (!areTools) throw unusable('tools', 'a list of tools, each with name, description, parameters and run')
  if (agent === undefined || (models === undefined && tools.length === 0)) return
  throw unusable('models and tools beside agent', 'either an agent, or models and tools for the built-in agent')
}

function assertRoute(route: string, right: string): void {
  const isRoute = /^(?:GET|POST|PUT|PATCH|DELETE) \/[^\s?#]*$/.test(route)
  if (!isRoute) throw unusable(`the route "${route}"`, 'a method and a path, such as "GET /api/mine"')
  const form = 'segments such as "mine", "{id}", or at the end "{path...}", with small letters and each name once'
  if (problemOf([route]) !== undefined) throw unusable(`the route "${route}"`, form)
  const expected = `one of open, ${[...allRights].join(', ')}`
  if (right !== 'open' && !allRights.has(right)) throw unusable(`the right "${right}" of "${route}"`, expected)
}

function assertFree(route: string, routes: readonly string[]): void {
  const [method] = route.split('/')
  const others = routes.filter((other) => other !== route && other.split('/')[0] === method)
  const isTaken = isTwice(route, routes) || problemOf([route, ...others]) !== undefined
  if (isTaken) throw unusable(`the route "${route}"`, 'a route that the server does not have')
}

/** Returns why the router refuses these paths as routes of one method; undefined if it accepts them. */
function problemOf(routes: readonly string[]): string | undefined {
  try {
    createRouter(routes.map((route) => ({ method: 'GET', pattern: route.slice(route.indexOf('/')) })))
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

function routesOf({ routes, sockets }: Part): string[] {
  return Object.keys({ ...routes, ...sockets })
}

function isTwice(word: string, words: readonly string[]): boolean {
  return words.indexOf(word) !== words.lastIndexOf(word)
}

/** Adds the names of the host's parts to the option `parts`. An empty list stays empty, because it means all parts. */
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
