/**
 * The built-in agent: the cost of step 500 of a conversation beside step 1, and the memory that a step leaves in use.
 *
 * A step is everything between two requests to the model: its answer is read, the call recorded and synced to disk, a
 * file of 2 KB read, the result recorded, and the next request made and sent. The model is a process of its own that
 * takes the same time however long a request is, and only processor time of the server's process counts. The first 25
 * steps of a new conversation and 25 steps of a long one, which are run right after each other, make one ratio. There
 * are four ratios around step 500 of each long conversation. The first of them only warms the code up.
 *
 * Nothing is condensed here; condensed-steps does that. A request holds the whole history, because models remember
 * nothing: 2.5 KB more with every step of this kind. Any sender pays for these bytes, so a second row leaves out the
 * time that a bare program needs to send as many more. Memory is that of the whole process after a collection, with the
 * history that has to be sent again: the memory that the system gives to the process, and the memory in use, which is
 * the heap and the buffers beside it.
 */
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { spreadOf, type Spread } from './rounds.ts'
import { withStage, type StepStage } from './step-stage.ts'

const steps = 500
const window = 25
const leastRuns = 3

export const longConversation: Gate = ({ budgetMs }) => withStage('anthropic/claude-bench', async (stage) => {
  const sender = startChild('bare-sender')
  try {
    await runOnce(stage, sender)
    const begin = performance.now()
    const runs: Run[] = []
    while (runs.length < leastRuns || performance.now() - begin < budgetMs) runs.push(await runOnce(stage, sender))
    return rowsOf(runs)
  } finally {
    await sender.stop()
  }
})

/** At the beginning and at the end of a conversation. */
interface Change {
  readonly early: number
  readonly late: number
}

interface Run {
  /** Milliseconds for a step, in pairs that were measured right after each other. */
  readonly cpu: readonly Change[]
  /** Milliseconds for sending a request of the same size, by a bare program. */
  readonly sending: Change
  /** Bytes. */
  readonly memory: Change
  readonly resident: Change
}

async function runOnce(stage: StepStage, sender: Child): Promise<Run> {
  const { server, begin, until, end } = stage
  await begin('long', steps + 2 * window)
  await until(['long'], 100)
  const early = await measureMemory(server)
  const before = await measurePair(stage, steps - 2 * window)
  const at = await measurePair(stage, steps - window)
  const late = await measureMemory(server)
  const after = [await measurePair(stage, steps), await measurePair(stage, steps + window)]
  await end('long')
  return {
    cpu: [before, at, ...after].map(({ early, late }) => ({ early: early.cpuMs, late: late.cpuMs })),
    sending: {
      early: await measureSending(sender, at.early.requestBytes, stage),
      late: await measureSending(sender, at.late.requestBytes, stage),
    },
    memory: { early: early.used, late: late.used },
    resident: { early: early.resident, late: late.resident },
  }
}

async function measureMemory(server: Child): Promise<{ readonly used: number; readonly resident: number }> {
  const { used, resident } = Object(await server.ask('memory'))
  return { used: Number(used), resident: Number(resident) }
}

interface Window {
  readonly cpuMs: number
  /** Of its last request. */
  readonly requestBytes: number
}

interface Pair {
  readonly early: Window
  readonly late: Window
}

/** Measures the first steps of a new conversation, then the steps of the long conversation that begin at `from`. */
async function measurePair(stage: StepStage, from: number): Promise<Pair> {
  await stage.begin('new', window + 1)
  const early = await measureWindow(stage, 'new', 1)
  await stage.end('new')
  return { early, late: await measureWindow(stage, 'long', from) }
}

async function measureWindow({ server, until }: StepStage, name: string, from: number): Promise<Window> {
  await until([name], from)
  let requestBytes = 0
  const { cpuMs } = await server.measure(async () => {
    const sizes = await until([name], from + window)
    requestBytes = sizes[0] ?? 0
  })
  return { cpuMs: cpuMs / window, requestBytes }
}

async function measureSending(sender: Child, bytes: number, { urlOf }: StepStage): Promise<number> {
  const url = `${await urlOf('nobody')}/messages`
  const { cpuMs } = await sender.measure(() => sender.ask('send', { url, bytes, count: window }))
  return cpuMs / window
}

function rowsOf(runs: readonly Run[]): Row[] {
  const late = spreadOf(runs.flatMap(({ cpu }) => cpu.map((pair) => pair.late))).median
  const sent = spreadOf(runs.map(({ sending }) => sending.late - sending.early)).median
  const kept = spreadOf(runs.map(({ memory }) => memory.late - memory.early)).median / (steps - 100) / 1024
  const what = `step ${steps} of a conversation: CPU`
  const target = { atMost: 1.05 }
  return [
    { what, limit: 'step 1', ratio: ratioOf(runs.flatMap(({ cpu }) => cpu)), target, context: `${late.toFixed(2)} ms` },
    {
      what: `${what} but for sending the history`,
      limit: 'step 1',
      ratio: ratioOf(runs.flatMap(({ cpu }) => cpu.map((pair) => ({ early: pair.early, late: pair.late - sent })))),
      target,
      context: `${sent.toFixed(2)} ms left out`,
    },
    {
      what: `memory of the process at step ${steps}`,
      limit: 'step 100',
      ratio: ratioOf(runs.map(({ resident }) => resident)),
      target,
      context: 'after a collection',
    },
    {
      what: `memory in use at step ${steps}`,
      limit: 'step 100',
      ratio: ratioOf(runs.map(({ memory }) => memory)),
      target,
      context: `${kept.toFixed(1)} KB a step`,
    },
  ]
}

function ratioOf(changes: readonly Change[]): Spread {
  return spreadOf(changes.map(({ early, late }) => late / early))
}
