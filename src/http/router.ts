/**
 * Finds the route for a method and a path, in a tree of path segments.
 *
 * A pattern has literal segments, parameters (`{name}`: one segment) and possibly a tail (`{name...}`: all further
 * segments). Literals are tried before parameters, and parameters before tails.
 */
import { AppError } from '../base/errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The members of a route that the router reads. The routes of callers have further members. */
export interface RoutePattern {
  readonly method: Method
  /** The path with its parameters, for example `/api/conversations/{conversation_id}/events/{event_id}`. */
  readonly pattern: string
}

export type PathParameters = Readonly<Record<string, string>>

export type Match<R> =
  | { readonly kind: 'found'; readonly route: R; readonly parameters: PathParameters }
  /** `path` is the requested path with its final slash added or removed, so that a route fits; percent-encoded. */
  | { readonly kind: 'redirect'; readonly path: string }
  /** `allow` is the value for the `Allow` header. */
  | { readonly kind: 'method_not_allowed'; readonly allow: string }
  | { readonly kind: 'not_found' }

export interface Router<R> {
  /**
   * Finds the route for a method and a percent-encoded path without a query.
   * @throws AppError `bad_request` for a parameter with a NUL or malformed percent-encoding, or a tail with `%2F`
   */
  match(method: string, path: string): Match<R>
}

interface Entry<R> {
  readonly route: R
  readonly names: readonly string[]
  /** True when the last name in `names` belongs to a tail (`{name...}`). */
  readonly hasTail: boolean
}

interface Node<R> {
  /** The nodes of the literal segments that follow, each with the text of its segment. */
  readonly literals: { readonly text: string; readonly node: Node<R> }[]
  parameter: Node<R> | undefined
  tail: Node<R> | undefined
  /** The routes whose pattern ends at this node, by method. */
  readonly entries: Map<string, Entry<R>>
}

/** Builds the tree. @throws TypeError for a malformed pattern or a repeated route */
export function createRouter<R extends RoutePattern>(routes: readonly R[]): Router<R> {
  const root = createNode<R>()
  for (const route of routes) insert(root, route)
  return {
    match(method: string, path: string): Match<R> {
      const wanted = method === 'HEAD' ? 'GET' : method
      const values: string[] = []
      const node = find(root, path, path.indexOf('/'), values)
      const entry = node?.entries.get(wanted)
      if (entry !== undefined) return { kind: 'found', route: entry.route, parameters: decode(entry, values) }
      return node === undefined ? explainMiss(root, path) : { kind: 'method_not_allowed', allow: allowOf(node) }
    },
  }
}

/** Returns the value of a path parameter. @throws TypeError for an unknown name */
export function parameterOf(parameters: PathParameters, name: string): string {
  const value = parameters[name]
  if (value === undefined) throw new TypeError(`The route has no parameter "${name}"`)
  return value
}

function createNode<R>(): Node<R> {
  return { literals: [], parameter: undefined, tail: undefined, entries: new Map() }
}

function insert<R extends RoutePattern>(root: Node<R>, route: R): void {
  const { method, pattern } = route
  const [first, ...segments] = pattern.split('/')
  if (first !== '') throw new TypeError(`Pattern "${pattern}" does not begin with "/"`)
  const names: string[] = []
  let node = root
  for (const [index, segment] of segments.entries()) {
    const parameter = /^\{([a-z_]+)(\.\.\.)?\}$/.exec(segment)
    if (parameter === null) {
      if (/[{}]/.test(segment)) throw new TypeError(`Pattern "${pattern}" has a malformed segment "${segment}"`)
      node = literalChild(node, segment)
      continue
    }
    const [, name = '', dots] = parameter
    if (names.includes(name)) throw new TypeError(`Pattern "${pattern}" names "${name}" twice`)
    const isLast = index === segments.length - 1
    if (dots !== undefined && !isLast) throw new TypeError(`Pattern "${pattern}" goes on after its tail`)
    names.push(name)
    node = dots === undefined ? (node.parameter ??= createNode()) : (node.tail ??= createNode())
  }
  if (node.entries.has(method)) throw new TypeError(`Route "${method} ${pattern}" is in the table twice`)
  node.entries.set(method, { route, names, hasTail: pattern.endsWith('...}') })
}

function literalChild<R>(node: Node<R>, segment: string): Node<R> {
  const known = node.literals.find(({ text }) => text === segment)
  if (known !== undefined) return known.node
  const child = createNode<R>()
  node.literals.push({ text: segment, node: child })
  return child
}

/**
 * Returns the node to which the rest of the path leads from `node`; undefined when no route fits. The rest begins with
 * the `/` at the index `slash`; -1 means that no segment is left. Adds the values of the path's parameters to `values`.
 */
function find<R>(node: Node<R>, path: string, slash: number, values: string[]): Node<R> | undefined {
  if (slash === -1) return withRoutes(node)
  const next = path.indexOf('/', slash + 1)
  const end = next === -1 ? path.length : next
  const literal = literalAt(node, path, slash + 1, end)
  let found = literal && find(literal, path, next, values)
  if (found === undefined && node.parameter !== undefined && end > slash + 1) {
    values.push(path.slice(slash + 1, end))
    found = find(node.parameter, path, next, values)
    if (found === undefined) values.pop()
  }
  if (found !== undefined || node.tail === undefined) return found
  return findTail(node.tail, path.slice(slash + 1).split('/'), values)
}

/** Returns the node of the literal that equals the path from `begin` to `end`. A Map would need a copy of this text. */
function literalAt<R>({ literals }: Node<R>, path: string, begin: number, end: number): Node<R> | undefined {
  for (const { text, node } of literals) {
    if (text.length === end - begin && path.startsWith(text, begin)) return node
  }
  return undefined
}

function findTail<R>(tail: Node<R>, rest: readonly string[], values: string[]): Node<R> | undefined {
  const empty = rest.indexOf('')
  if (empty !== -1 && empty < rest.length - 1) return undefined
  values.push(rest.join('/'))
  return withRoutes(tail)
}

function withRoutes<R>(node: Node<R>): Node<R> | undefined {
  return node.entries.size > 0 ? node : undefined
}

/** Returns the result for a path that no pattern fits: `redirect` or `not_found`. */
function explainMiss<R>(root: Node<R>, path: string): Match<R> {
  // A path `*` (RFC 9112, section 3.2.4) has no route.
  if (!path.startsWith('/')) return { kind: 'not_found' }
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  return find(root, other, other.indexOf('/'), []) ? { kind: 'redirect', path: other } : { kind: 'not_found' }
}

function allowOf<R>({ entries }: Node<R>): string {
  const methods = [...entries.keys()]
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
}

function decode<R>({ names, hasTail }: Entry<R>, values: readonly string[]): PathParameters {
  const parameters: Record<string, string> = {}
  let index = 0
  for (const name of names) {
    const value = values[index++] ?? ''
    parameters[name] = value.includes('%') ? decodeValue(value, hasTail && index === names.length) : value
  }
  return parameters
}

function decodeValue(value: string, isTail: boolean): string {
  const text = decodePercent(value)
  if (text === undefined || text.includes('\0') || (isTail && /%2f/i.test(value))) {
    throw new AppError('bad_request', `Could not read the path: "${value.slice(0, 64)}" is not percent-encoded text`)
  }
  return text
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined // `decodeValue` refuses the text.
  }
}
