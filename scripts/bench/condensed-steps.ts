/**
 * The built-in agent with its condenser: the cost of step 2,000 of a conversation beside step 180, in time and in
 * memory.
 *
 * A history is condensed from 240 events to 120, again and again: every 60 steps, once the first 120 have passed. So
 * the requests of such a conversation keep their size, and every step should cost the same. The gate compares whole
 * rounds of 60 steps, each with one condensation: the second of a new conversation, and one of a long conversation that
 * is run right after it. Summaries come from an address that answers at once.
 */
import type { Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { spreadOf } from './rounds.ts'
import { withStage, type StepStage } from './step-stage.ts'

const steps = 2000
/** So many steps lie between two condensations. */
const round = 60
/** By then the first one was made. */
const early = 150

export const condensedConversation: Gate = ({ budgetMs }) => withStage('anthropic/claude-bench', async (stage) => {
  const deadline = performance.now() + budgetMs
  await stage.begin('warm', early + round, true)
  await stage.until(['warm'], early + round)
  await stage.end('warm')
  const runs: Run[] = []
  while (runs.length === 0 || performance.now() < deadline) runs.push(await runOnce(stage))
  return rowsOf(runs)
})

/** At the beginning of a conversation and at the end. */
interface Change {
  readonly early: number
  readonly late: number
}

interface Run {
  /** Milliseconds for a step, in pairs that were measured right after each other. */
  readonly cpu: readonly Change[]
  /** Bytes. */
  readonly memory: Change
}

async function runOnce(stage: StepStage): Promise<Run> {
  const { server, begin, until, end } = stage
  await begin('long', steps + round, true)
  await until(['long'], early)
  const memoryEarly = await memoryInUse(server)
  const cpu: Change[] = []
  for (const from of [steps - 2 * round, steps - round]) cpu.push(await measurePair(stage, from))
  await until(['long'], steps)
  const memoryLate = await memoryInUse(server)
  await end('long')
  return { cpu, memory: { early: memoryEarly, late: memoryLate } }
}

async function memoryInUse(server: Child): Promise<number> {
  return Number(Object(await server.ask('memory')).used)
}

async function measurePair(stage: StepStage, from: number): Promise<Change> {
  await stage.begin('new', early + round, true)
  const atStart = await measureRound(stage, 'new', early)
  await stage.end('new')
  return { early: atStart, late: await measureRound(stage, 'long', from) }
}

async function measureRound({ server, until }: StepStage, name: string, from: number): Promise<number> {
  await until([name], from)
  const { cpuMs } = await server.measure(() => until([name], from + round))
  return cpuMs / round
}

function rowsOf(runs: readonly Run[]): Row[] {
  const pairs = runs.flatMap(({ cpu }) => cpu)
  const kept = spreadOf(runs.map(({ memory }) => memory.late - memory.early)).median / (steps - early) / 1024
  const target = { atMost: 1.05 }
  return [
    {
      what: `step ${steps} with a condenser: CPU`,
      limit: `step ${early + round}`,
      ratio: spreadOf(pairs.map(({ early: before, late }) => late / before)),
      target,
      context: `${spreadOf(pairs.map(({ late }) => late)).median.toFixed(2)} ms`,
    },
    {
      what: `memory in use at step ${steps} with a condenser`,
      limit: `step ${early}`,
      ratio: spreadOf(runs.map(({ memory }) => memory.late / memory.early)),
      // The index of the log and the ids of answers stay.
      target: { atMost: 1.15 },
      context: `${kept.toFixed(1)} KB a step`,
    },
  ]
}
