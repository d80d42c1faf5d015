/**
 * The built-in agent: what step 500 of a conversation costs beside step 1, and what it leaves in memory.
 *
 * A step is everything between two requests to the model: its answer is read, the call recorded and synced to disk, a
 * file of 2 KB read, the result recorded, and the next request made and sent. The model is a process of its own that takes
 * the same time however long a request is, and only processor time of the server's process counts. The first 25 steps and
 * the last 25 of a conversation make one ratio; the first conversation only warms the code up.
 *
 * A request holds the whole history, because models remember nothing: 2.5 KB more with every step of this kind. Whoever
 * sends it pays for the bytes, so a second row leaves out what a bare program pays for sending as many more. Memory is the
 * heap after a collection and the buffers beside it, of the whole process, with the history that has to be sent again.
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
  /** Milliseconds for a step. */
  readonly cpu: Change
  /** Milliseconds for sending a request of the same size, by a bare program. */
  readonly sending: Change
  /** Bytes. */
  readonly memory: Change
}

async function runOnce(stage: StepStage, sender: Child): Promise<Run> {
  const name = 'long'
  await stage.begin(name, steps)
  const early = await measureWindow(stage, name, 1)
  await stage.until([name], 100)
  const memoryEarly = Number(await stage.server.ask('memory'))
  const late = await measureWindow(stage, name, steps - window)
  const memoryLate = Number(await stage.server.ask('memory'))
  await stage.end(name)
  return {
    cpu: { early: early.cpuMs, late: late.cpuMs },
    sending: { early: await measureSending(sender, early, stage), late: await measureSending(sender, late, stage) },
    memory: { early: memoryEarly, late: memoryLate },
  }
}

interface Window {
  readonly cpuMs: number
  /** Of its last request. */
  readonly requestBytes: number
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

async function measureSending(sender: Child, { requestBytes }: Window, { urlOf }: StepStage): Promise<number> {
  const url = `${await urlOf('nobody')}/messages`
  const { cpuMs } = await sender.measure(() => sender.ask('send', { url, bytes: requestBytes, count: window }))
  return cpuMs / window
}

function rowsOf(runs: readonly Run[]): Row[] {
  const median = (valueOf: (run: Run) => number): number => spreadOf(runs.map(valueOf)).median
  const cpu = `step ${steps} of a conversation: CPU`
  const atMost = 1.05
  const perStep = median(({ memory }) => memory.late - memory.early) / (steps - 100) / 1024
  return [
    { what: cpu, limit: 'step 1', ratio: ratioOf(runs, ({ cpu }) => cpu), target: { atMost }, context: `${median(({ cpu }) => cpu.late).toFixed(2)} ms` },
    {
      what: `${cpu} but for sending the history`,
      limit: 'step 1',
      ratio: ratioOf(runs, ({ cpu, sending }) => ({ early: cpu.early, late: cpu.late - (sending.late - sending.early) })),
      target: { atMost },
      context: `${median(({ sending }) => sending.late - sending.early).toFixed(2)} ms left out`,
    },
    {
      what: `memory at step ${steps}`, limit: 'step 100', ratio: ratioOf(runs, ({ memory }) => memory), target: { atMost },
      context: `${perStep.toFixed(1)} KB a step`,
    },
  ]
}

function ratioOf(runs: readonly Run[], changeOf: (run: Run) => Change): Spread {
  return spreadOf(runs.map(changeOf).map(({ early, late }) => late / early))
}
