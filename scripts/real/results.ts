/**
 * The results of `npm run real-agents`: how many checks passed, failed as a known limit says, or failed, for each
 * agent, scenario and pace.
 *
 * A whole run takes an hour, so it may be done agent by agent: `keepCell` writes each cell into the agent's own file.
 * Cells of another build of the server, or of another version of the agent, are dropped from it: a file never mixes
 * two.
 */
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { numberOf, objectsOf, textOf } from '../../src/base/fields.ts'
import { isObject } from '../../src/base/json.ts'
import { readJsonFile, writeJsonFile } from '../../src/base/json-file.ts'
import { serverProgram } from './built-server.ts'

export interface Cell {
  readonly scenario: string
  /** Tokens per second of the stand-in for the model. */
  readonly pace: number
  readonly passed: number
  /** Checks that failed as a limit of the agent says. */
  readonly known: number
  readonly failed: number
}

export interface Subject {
  readonly agent: string
  /** Name and version of its package. */
  readonly package: string
  /** The digest of the built server, from `buildDigest`. */
  readonly build: string
}

export interface AgentResults extends Subject {
  /** When the last cell was made, to the minute. */
  readonly date: string
  readonly cells: readonly Cell[]
}

/**
 * The first 12 hexadecimal digits of the SHA-256 of the joined files of the server, `dist/agent-server*.js`, by name.
 */
export async function buildDigest(): Promise<string> {
  const folder = dirname(serverProgram)
  const names = (await readdir(folder)).filter((name) => /^agent-server[^/]*\.js$/.test(name)).sort()
  const hash = createHash('sha256')
  for (const name of names) hash.update(await readFile(join(folder, name)))
  return hash.digest('hex').slice(0, 12)
}

/** Writes the cell into the file of its agent, instead of an earlier one of the same scenario and pace. */
export async function keepCell(folder: string, subject: Subject, cell: Cell): Promise<void> {
  const path = join(folder, `${subject.agent}.json`)
  const before = resultsIn(await readJsonFile(path))
  const isSame = before?.build === subject.build && before.package === subject.package
  const others = isSame
    ? before.cells.filter(({ scenario, pace }) => scenario !== cell.scenario || pace !== cell.pace)
    : []
  const date = new Date().toISOString().slice(0, 16)
  const { agent, package: name, build } = subject
  await writeJsonFile(path, { agent, package: name, build, date, cells: [...others, cell] })
}

/** The cells of this agent and build without a failure. */
export async function passedCells(folder: string, { agent, package: name, build }: Subject): Promise<readonly Cell[]> {
  const kept = resultsIn(await readJsonFile(join(folder, `${agent}.json`)))
  return kept?.build === build && kept.package === name
    ? kept.cells.filter(({ passed, failed }) => passed > 0 && failed === 0)
    : []
}

/** Reads the results of all agents in the folder. */
export async function readResults(folder: string): Promise<AgentResults[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  const files = await Promise.all(names.map((name) => readJsonFile(join(folder, name))))
  return files.flatMap((file) => resultsIn(file) ?? [])
}

function resultsIn(file: unknown): AgentResults | undefined {
  if (!isObject(file)) return undefined
  const [agent, name, build, date] = [file['agent'], file['package'], file['build'], file['date']].map(textOf)
  if (agent === undefined || name === undefined || build === undefined || date === undefined) return undefined
  return { agent, package: name, build, date, cells: objectsOf(file['cells']).flatMap((cell) => cellIn(cell) ?? []) }
}

function cellIn(cell: Readonly<Record<string, unknown>>): Cell | undefined {
  const scenario = textOf(cell['scenario'])
  const [pace, passed, known, failed] = [cell['pace'], cell['passed'], cell['known'], cell['failed']].map(numberOf)
  if (
    scenario === undefined || pace === undefined || passed === undefined || known === undefined || failed === undefined
  ) {
    return undefined
  }
  return { scenario, pace, passed, known, failed }
}
