/**
 * The built-in agent: what a late step of a conversation costs beside an early one, and what 16 conversations cost at once.
 *
 * Measured is processor time of the server's process alone. The model is a process of its own on loopback that answers in
 * the same time however long the request is; a step is everything between two of its answers: the answer is read, the call
 * recorded and synced to disk, a file of 2 KB read, the result recorded, and the next request made and sent. The model
 * holds its answer back while a figure is taken, so each window holds whole steps. A conversation's early window
 * and its late one make one ratio; the first conversation only warms the code up.
 *
 * A request holds the whole history, so the bytes to send grow with every step, whoever sends them: a second row
 * takes off what sending as many bytes costs a bare program. Memory is the heap after a collection with the buffers
 * beside it, of the whole process, and holds what a model has to be sent again.
 */
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, spreadOf, type Round } from './rounds.ts'

const model = 'anthropic/claude-bench'
const steps = 500
const window = 25
const conversations = 16
const stepsAtOnce = 25

interface Stage {
  readonly server: Child
  readonly model: Child
  /** Starts a conversation of so many steps. */
  begin(name: string, steps: number): Promise<string>
  /** Resolves when the request for this step has arrived. */
  until(names: readonly string[], step: number): Promise<number>
  end(name: string, id: string): Promise<void>
}

export const stepsGate: Gate = ({ budgetMs }) => withStage(async (stage) => {
  await runLong(stage)
  const begin = performance.now()
  const runs: Run[] = []
  while (runs.length < 3 || performance.now() - begin < budgetMs) {
    const run = await runLong(stage)
    process.stderr.write(`${JSON.stringify(run)}\n`)
    runs.push(run)
  }
  const context = `${spreadOf(runs.map(({ late }) => late)).median.toFixed(2)} ms a step`
  const kept = spreadOf(runs.map(({ early, late }) => late / early))
  const bytes = spreadOf(runs.map(({ memoryEarly, memoryLate }) => (memoryLate - memoryEarly) / 400)).median
  const rows: Row[] = [
    { what: `steps: CPU of step ${steps}`, limit: 'step 1', ratio: kept, target: { atMost: 1.05 }, context },
    { what: `steps: memory at step ${steps}`, limit: 'step 100', ratio: spreadOf(runs.map(({ memoryEarly, memoryLate }) => memoryLate / memoryEarly)), target: { atMost: 1.05 }, context: `${(bytes / 1024).toFixed(1)} KB a step` },
  ]
  return rows
})

interface Run {
  readonly early: number
  readonly late: number
  readonly memoryEarly: number
  readonly memoryLate: number
  readonly requestBytes: number
}

async function runLong({ server, begin, until, end }: Stage): Promise<Run> {
  const name = 'long'
  const cpu = async (): Promise<number> => Number(await server.ask('cpu'))
  const perStep = async (from: number): Promise<number> => {
    await until([name], from)
    const before = await cpu()
    await until([name], from + window)
    return (await cpu() - before) / window
  }
  const memoryAt = async (step: number): Promise<number> => {
    await until([name], step)
    return Number(await server.ask('memory'))
  }
  const id = await begin(name, steps)
  const early = await perStep(2)
  const memoryEarly = await memoryAt(100)
  const late = await perStep(steps - window)
  const requestBytes = await until([name], steps + 1)
  const memoryLate = Number(await server.ask('memory'))
  await end(name, id)
  return { early, late, memoryEarly, memoryLate, requestBytes }
}

export const parallelGate: Gate = ({ budgetMs }) => withStage(async (stage) => {
  const { cpu, elapsed, ours } = await compare({ limit: atOnce(stage, 1), ours: atOnce(stage, conversations) }, budgetMs)
  const limit = 'one after another'
  const what = `${conversations} conversations of ${stepsAtOnce} steps at once`
  const context = `${(ours.cpuMs / conversations / stepsAtOnce).toFixed(2)} ms a step`
  return [
    { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.1 }, context },
    { what: `${what}: time`, limit, ratio: elapsed, target: { atMost: 1.1 } },
  ]
})

/** The same number of conversations every time, so many of them at once. */
function atOnce(stage: Stage, width: number): Round {
  return async () => {
    let cpuMs = 0
    let elapsedMs = 0
    for (let first = 0; first < conversations; first += width) {
      const names = Array.from({ length: width }, (_, index) => `c${first + index}`)
      const cost = await runTogether(stage, names)
      cpuMs += cost.cpuMs
      elapsedMs += cost.elapsedMs
    }
    return { cpuMs, elapsedMs }
  }
}

async function runTogether({ server, begin, until, end }: Stage, names: readonly string[]): ReturnType<Round> {
  const ids: string[] = []
  for (const name of names) {
    ids.push(await begin(name, stepsAtOnce))
    await until([name], 1)
  }
  const cpuBefore = Number(await server.ask('cpu'))
  const began = performance.now()
  await until(names, stepsAtOnce + 1)
  const elapsedMs = performance.now() - began
  const cpuMs = Number(await server.ask('cpu')) - cpuBefore
  for (const [index, name] of names.entries()) await end(name, ids[index] ?? '')
  return { cpuMs, elapsedMs }
}

async function withStage(measure: (stage: Stage) => Promise<Row[]>): Promise<Row[]> {
  const server = startChild('step-server', ['--expose-gc'])
  const standIn = startChild('step-model')
  try {
    const url = `http://127.0.0.1:${Number(await standIn.ask('port'))}`
    return await measure({
      server,
      model: standIn,
      async begin(name, count) {
        await standIn.ask('script', { name, steps: count })
        return String(await server.ask('begin', { model, baseUrl: `${url}/${name}` }))
      },
      async until(names, step) {
        const sizes = await standIn.ask('until', { names, step })
        return Array.isArray(sizes) ? Number(sizes[0]) : 0
      },
      async end(name, id) {
        await server.ask('remove', id)
        await standIn.ask('end', { name })
      },
    })
  } finally {
    await Promise.all([server.stop(), standIn.stop()])
  }
}
