/**
 * The newest figure of every row, with the circumstances under which it was measured: `results.json` beside this file.
 *
 * `npm run bench -- --write` replaces the rows of the gates that it has measured and leaves all others as they are. The
 * tables of README.md and of scripts/bench/README.md are made from this file alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/base/json.ts'
import type { Figure, Row, Stall, Target } from './gate.ts'
import type { Spread } from './rounds.ts'

export interface Circumstances {
  /** The day, in UTC: `2026-11-23`. */
  readonly date: string
  /** Version of Node. */
  readonly node: string
  readonly machine: string
  /** How many processors other programs used, just before the gate began. */
  readonly load: number
  /** Measured with `--quick`. */
  readonly isRough: boolean
}

export interface Result extends Row {
  /** Name of the gate that has measured it. */
  readonly gate: string
  readonly measured: Circumstances
}

/** `path` for tests. */
export function readResults(path: string = resultsPath): Result[] {
  return asResults(readFileSync(path, 'utf8'), path)
}

function asResults(text: string, path: string): Result[] {
  const read: unknown = JSON.parse(text)
  if (!Array.isArray(read)) throw new TypeError(`${path}: expected a list of rows`)
  return read.map((row, index) => asResult(row, `${path}, row ${index + 1}`))
}

/**
 * One row a line, so that a change shows which rows were measured.
 * @throws TypeError for a figure that JSON cannot say, such as a ratio to 0; the file stays as it was.
 */
export function writeResults(results: readonly Result[], path: string = resultsPath): void {
  const text = `[\n${results.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
  asResults(text, path)
  writeFileSync(path, text)
}

/**
 * Returns the old results with the fresh results of a gate in the place of its old ones. A row that the gate no longer
 * has is gone. A new gate follows at the end.
 */
export function replaceGate(old: readonly Result[], name: string, fresh: readonly Result[]): Result[] {
  const others = old.filter(({ gate }) => gate !== name)
  const first = old.findIndex(({ gate }) => gate === name)
  const place = first === -1 ? others.length : first
  return [...others.slice(0, place), ...fresh, ...others.slice(place)]
}

/** Of the source, whose built copy runs. */
const resultsPath = fileURLToPath(new URL('../../../scripts/bench/results.json', import.meta.url))

function asResult(value: unknown, where: string): Result {
  const row = asObject(value, where)
  const measured = asObject(row['measured'], `${where}: measured`)
  return {
    gate: asText(row['gate'], `${where}: gate`),
    what: asText(row['what'], `${where}: what`),
    limit: asText(row['limit'], `${where}: limit`),
    ratio: asSpread(row['ratio'], `${where}: ratio`),
    target: asTarget(row['target'], `${where}: target`),
    ...(row['peer'] === undefined ? {} : { peer: asText(row['peer'], `${where}: peer`) }),
    ...(row['context'] === undefined ? {} : { context: asText(row['context'], `${where}: context`) }),
    ...(row['figure'] === undefined ? {} : { figure: asFigure(row['figure'], `${where}: figure`) }),
    ...(row['stall'] === undefined ? {} : { stall: asStall(row['stall'], `${where}: stall`) }),
    measured: {
      date: asText(measured['date'], `${where}: date`),
      node: asText(measured['node'], `${where}: node`),
      machine: asText(measured['machine'], `${where}: machine`),
      load: asNumber(measured['load'], `${where}: load`),
      isRough: measured['isRough'] === true,
    },
  }
}

function asFigure(value: unknown, where: string): Figure {
  const { unit, ours, least, target, why } = asObject(value, where)
  const aim = target === undefined ? 'none' : asTarget(target, `${where}: target`)
  return {
    unit: asText(unit, `${where}: unit`),
    ours: asSpread(ours, `${where}: ours`),
    ...(least === undefined ? {} : { least: asSpread(least, `${where}: least`) }),
    ...(aim === 'none' ? {} : { target: aim }),
    ...(why === undefined ? {} : { why: asText(why, `${where}: why`) }),
  }
}

function asStall(value: unknown, where: string): Stall {
  const { stallMs, busyMs } = asObject(value, where)
  return { stallMs: asNumber(stallMs, where), busyMs: asNumber(busyMs, where) }
}

function asTarget(value: unknown, where: string): Target {
  if (value === 'none') return value
  const { atMost, atLeast } = asObject(value, where)
  return atMost === undefined ? { atLeast: asNumber(atLeast, where) } : { atMost: asNumber(atMost, where) }
}

function asSpread(value: unknown, where: string): Spread {
  const { low, median, high } = asObject(value, where)
  return { low: asNumber(low, where), median: asNumber(median, where), high: asNumber(high, where) }
}

function asObject(value: unknown, where: string): Record<string, unknown> {
  if (!isObject(value)) throw new TypeError(`${where}: expected an object`)
  return value
}

function asText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new TypeError(`${where}: expected a text`)
  return value
}

function asNumber(value: unknown, where: string): number {
  if (typeof value !== 'number') throw new TypeError(`${where}: expected a number`)
  return value
}
