/**
 * Gates 1 and 2: whether the generated validator costs more than one written by hand, and the cost of reading an event
 * from JSON as the server does (parsed, checked for nesting, validated) beside JSON.parse alone.
 *
 * The events differ, so that nothing is known beforehand but their shape, and there are few enough to stay in caches.
 */
import { parseJson } from '../../src/base/json.ts'
import { isEvent } from '../../src/schema/generated/events.ts'
import type { Gate, GateOptions, Row } from './gate.ts'
import { isTerminalCall } from './hand-written.ts'
import { compare, measure, type Round } from './rounds.ts'
import { actionEvent } from './sample-event.ts'

const eventCount = 256
const validationsPerRound = 20
const parsesPerRound = 4

export const validate: Gate = ({ budgetMs }) => compareValidators({ peer: '', check: isEvent, budgetMs })

export const parse: Gate = ({ budgetMs }) =>
  compareParsers({ peer: '', read: (text) => isEvent(parseJson(text)), budgetMs })

interface PeerOptions extends GateOptions {
  /** Whose validator it is; empty for ours. */
  readonly peer: string
}

export async function compareValidators(
  { peer, check, budgetMs }: PeerOptions & { readonly check: (event: unknown) => boolean },
): Promise<Row[]> {
  const events: unknown[] = sampleTexts().map((text) => JSON.parse(text))
  const roundOf = (check: (event: unknown) => boolean): Round => repeat(events, check, validationsPerRound)
  const { cpu, ours } = await compare({ limit: roundOf(isTerminalCall), ours: roundOf(check) }, budgetMs)
  const context = nanoseconds(ours.cpuMs, validationsPerRound)
  return [
    {
      peer, what: 'validate one event of 1 KB: CPU', limit: 'hand-written switch', ratio: cpu, target: { atMost: 1.25 },
      context,
    },
  ]
}

export async function compareParsers(
  { peer, read, budgetMs }: PeerOptions & { readonly read: (text: string) => boolean },
): Promise<Row[]> {
  const texts = sampleTexts()
  const roundOf = (read: (text: string) => boolean): Round => repeat(texts, read, parsesPerRound)
  const sides = {
    limit: roundOf((text) => JSON.parse(text) !== undefined),
    ours: roundOf(read),
  }
  const { cpu, ours } = await compare(sides, budgetMs)
  const context = nanoseconds(ours.cpuMs, parsesPerRound)
  return [
    {
      peer, what: 'parse and validate one event: CPU', limit: 'JSON.parse', ratio: cpu, target: { atMost: 1.15 },
      context,
    },
  ]
}

function sampleTexts(): string[] {
  return Array.from({ length: eventCount }, actionEvent)
}

/**
 * A round that checks all of the items so many times. It fails if one of them is refused: nothing would be compared.
 */
function repeat<T>(items: readonly T[], check: (item: T) => boolean, times: number): Round {
  return () => measure(() => {
    let accepted = 0
    for (let time = 0; time < times; time++) {
      for (const item of items) if (check(item)) accepted++
    }
    if (accepted !== items.length * times) throw new Error('A valid event was refused')
  })
}

function nanoseconds(cpuMs: number, times: number): string {
  return `${((cpuMs / times / eventCount) * 1e6).toFixed(0)} ns`
}
