/**
 * The tables of the generated regions, made from the code: options, routes, powers, sizes, parts; and from the results
 * of benchmarks.
 *
 * The document decides the subject of a table: `src/parts/mcp/README.md` gets the options, routes and powers of the
 * part `mcp`, `src/api/README.md` the routes of the core, `src/http/README.md` the powers of that folder.
 */
import { posix } from 'node:path'
import { access, type Right } from '../../src/access.ts'
import { allParts } from '../../src/all-parts.ts'
import type { Core } from '../../src/capabilities.ts'
import { defaultFolders, entries, type Entry } from '../../src/cli/options.ts'
import { optionTable } from '../../src/config.ts'
import type { Option } from '../../src/option.ts'
import type { Part } from '../../src/part.ts'
import { touches } from '../../src/parts/selftest/touches.ts'
import { baseVariables } from '../../src/process/environment.ts'
import { readResults } from '../bench/results.ts'
import { limitsTable, shortTable, usersTable } from '../bench/tables.ts'
import { endpoints } from '../generate/specs.ts'
import { importTable } from '../shape/architecture.ts'
import { grantsBelow } from '../shape/boundaries.ts'
import { powers } from '../shape/power-table.ts'
import { filesCell } from '../shape/security-table.ts'
import { sizesOf, type SizedFile } from '../shape/sizes.ts'
import { readingOrder } from './reading-order.ts'
import type { Table } from './regions.ts'

/** The tables that a document may have, by the name of the region. */
export function tablesFor(document: string, sources: readonly SizedFile[]): Readonly<Record<string, Table>> {
  if (document === 'README.md') return { speed: () => shortTable(readResults()) }
  const folder = posix.dirname(document)
  if (folder === 'scripts/bench') {
    return { users: () => usersTable(readResults()), limits: () => limitsTable(readResults()) }
  }
  const part = allParts.find(({ name }) => folder === `src/parts/${name}`)
  if (part !== undefined) {
    return {
      options: () => optionsOfPart(part),
      routes: () => routeRows({ ...part.routes, ...part.sockets }),
      powers: () => powersOf(folder),
    }
  }
  const tables = {
    powers: () => powersOf(folder), sizes: () => sizeRows(sources), order: () => orderRows(sources),
    parts: () => partRows(folder), capabilities: () => capabilityRows(), touches: () => touchRows(),
    environment: () => baseSet(),
  }
  if (folder === 'src/cli') return { ...tables, options: () => optionRows(optionTable) }
  if (folder === 'src/api') return { ...tables, routes: () => routeRows(access) }
  return tables
}

function rows(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`.replaceAll('  ', ' ')
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...cells.map(line)].join('\n')
}

function optionsOfPart({ options = {}, commands = {} }: Part): string {
  const about = Object.values(commands).map(({ usage: [usage, text] }) => [
    `\`agent-server ${usage.replaceAll('|', '\\|')}\``, text,
  ])
  return [
    Object.keys(options).length === 0 ? 'This part has no options of the server.' : optionRows(options),
    ...(about.length === 0 ? [] : ['', rows(['Command', 'What it does'], about)]),
  ].join('\n')
}

function optionRows(table: Readonly<Record<string, Option<unknown>>>): string {
  const own = entries.filter(({ name }) => Object.hasOwn(table, name))
  return rows(['Option', 'Meaning', 'Default'], own.map(optionRow))
}

function optionRow({ name, flag, option, isFile }: Entry): string[] {
  const word = isFile ? ' FILE' : option.kind === 'switch' ? '' : ` ${option.placeholder}`
  const { initial } = option
  const value = initial ?? defaultFolders({ HOME: '~' })[name]
  const hasDefault = !isFile && value !== '' && (typeof value === 'string' || typeof value === 'number')
  return [`\`--${flag}\`${word}`, isFile ? 'The same, in a file' : option.help, hasDefault ? `\`${value}\`` : '']
}

function routeRows(routes: Readonly<Record<string, Right>>): string {
  const names = Object.entries(routes)
  if (names.length === 0) return 'This part has no routes.'
  return rows(['Route', 'Right', 'What it does'], names.map(([name, right]) => [`\`${name}\``, right, summaryOf(name)]))
}

/** The summary in `/openapi.json`; a socket has none there. @throws Error for a route that is not described there */
function summaryOf(route: string): string {
  if (route === 'GET /sockets/bash-events') return 'Open a WebSocket that starts commands and follows all of them'
  if (route.startsWith('GET /sockets/')) return 'Open a WebSocket that follows a conversation; a message needs `drive`'
  const endpoint = endpoints.find(({ method, path }) => `${method} ${path}` === route.replaceAll('...}', '}'))
  if (endpoint === undefined) {
    throw new Error(`${route}: describe the route in src/schema/spec, or in the spec.ts of its part`)
  }
  return endpoint.summary
}

/** The powers of the files below a folder, and the row of the import table. The root document has the whole table. */
function powersOf(folder: string): string {
  if (folder === '.') return rows(['Power', 'Files'], powers.map((power) => [power.power, filesCell(power)]))
  const below = `${folder}/`
  const own = powers.map(({ power, files }) => [power, files.filter((path) => path.startsWith(below)).sort()] as const)
  const granted = own.filter(([, files]) => files.length > 0)
  const cells = granted.map(([power, files]) => [
    power, files.map((path) => `\`${path.slice(below.length)}\``).join(', '),
  ])
  const table = cells.length === 0 ? 'No file of this folder has a power of its own.' : rows(['Power', 'Files'], cells)
  const row = folder.replace(/^src\//, '')
  if (importTable[row] === undefined) return table
  const names = grantsBelow(row).map((name) => `\`${name}\``)
  if (names.length === 0) return `${table}\n\nIt imports no other folder of src.`
  return `${table}\n\n${wrapped(['It', 'may', 'import', ...names.map((name, index) => name + (index === names.length - 1 ? '.' : ','))])}`
}

/** Words in lines of at most 120 columns. */
function wrapped(words: readonly string[]): string {
  const lines = ['']
  for (const word of words) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= 120) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

/** Lines are rounded down, so that the table is stale after a change that matters and not after each change. */
function sizeRows(sources: readonly SizedFile[]): string {
  const cells = sizesOf(sources).map(({ unit, lines, powerful, powerfulLines, budget }) =>
    [unit, about(lines), `${powerful}`, about(powerfulLines), budget?.toLocaleString('en') ?? ''])
  return rows(['', 'Lines, about', 'Files with powers', 'Their lines, about', 'Budget of lines'], cells)
}

function orderRows(sources: readonly SizedFile[]): string {
  const cells = readingOrder(sources).map(({ purpose, paths, lines }, index) => {
    const names = paths.map((path) => (path === '' ? 'the rest of `src/`' : `\`${path}\``))
    return [`${index + 1}`, names.join(', '), purpose, about(lines)]
  })
  return rows(['', 'Read', 'To know', 'Lines, about'], cells)
}

function about(count: number): string {
  const step = count < 100 ? 10 : count < 10_000 ? 100 : 1000
  return (Math.floor(count / step) * step).toLocaleString('en')
}

/**
 * Prints the rows of the things that a running server touches: first without being asked, then for requests and
 * options, then the files that Node and the C library open.
 */
function touchRows(): string {
  const kinds = { read: 'Reads', change: 'Reads and changes', program: 'Starts', address: 'Listens on' } as const
  const own = touches.filter(({ isNode }) => isNode !== true)
  const named = [...own.filter(({ isAsked }) => isAsked !== true), ...own.filter(({ isAsked }) => isAsked === true)]
  const cells = named.map(({ kind, name, why, isAsked }) =>
    [isAsked === true ? `If asked: ${kinds[kind].toLowerCase()}` : kinds[kind], `\`${name}\``, why])
  const others = touches.filter(({ isNode }) => isNode === true)
  const ofNode = [...new Set(others.map(({ why }) => why))].map((reason) => {
    const names = others.filter(({ why }) => why === reason).map(({ name }) => `\`${name}\``)
    return ['Node or the C library reads', names.join(', '), reason]
  })
  return rows(['', 'Name', 'Why'], [...cells, ...ofNode])
}

/** The variables that each program gets from the server's environment. */
function baseSet(): string {
  const names = baseVariables.map((name) => `\`${name}\`,`)
  return wrapped(['Programs', 'get', 'the', 'base', 'set:', ...names, '`LC_*`.'])
}

/** The capabilities that give a part secrets, keys, or a way to them. */
const secretCapabilities: Readonly<Partial<Record<keyof Core, string>>> = {
  cipher: 'seals and opens stored secrets',
  sessionApiKeys: 'the session keys among the options',
  sealingKeyOptions: 'the sealing keys among the options',
  secretValues: 'the plain values of the global secrets',
  vault: 'the secrets of conversations and agents',
  settings: 'the settings, with secrets as they are stored',
  llmProfiles: 'the LLM profiles, with their keys',
  secretFolder: 'a folder for secrets that child processes need',
  environment: 'the environment of the server',
  namedKeys: 'says whose a named key is; the part that stores them sets the source',
  pageSessions: 'says whose a session of the console is; the part that serves the page sets the source',
  workspaceSessions: 'opens sessions for files of a workspace',
  use: 'offers of other parts, such as tokens of MCP servers',
}

function capabilityRows(): string {
  const cells = Object.entries(secretCapabilities).map(([capability, meaning]) => {
    const parts = allParts.filter(({ needs = [] }) => needs.some((need) => need === capability))
    return [`\`${capability}\``, meaning, parts.map(({ name }) => `\`${name}\``).join(', ')]
  })
  return rows(['Capability', 'What it gives', 'Parts that get it'], cells)
}

function partRows(folder: string): string {
  const cells = allParts.map(({ name, about: purpose }) =>
    [`[\`${name}\`](${posix.relative(folder, `src/parts/${name}`)}/README.md)`, purpose])
  return rows(['Part', 'What it adds'], cells)
}
