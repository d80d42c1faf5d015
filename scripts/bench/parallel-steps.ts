/**
 * The built-in agent: 16 conversations at once, beside the same 16 one after another.
 *
 * Both sides do the same steps with histories of the same length (see step-server and step-model), and only steps are
 * counted, from the first request to the last. Processor time is that of the server's process.
 */
import type { Gate } from './gate.ts'
import { compare, type Cost, type Round } from './rounds.ts'
import { withStage, type StepStage } from './step-stage.ts'

const conversations = 16
const steps = 25

export const parallelSteps: Gate = ({ budgetMs }) => withStage('anthropic/claude-bench', async (stage) => {
  const { cpu, elapsed, ours } = await compare(
    { limit: roundOf(stage, 1), ours: roundOf(stage, conversations) }, budgetMs,
  )
  const what = `${steps} steps in ${conversations} conversations at once`
  const limit = 'one after another'
  const context = `${(ours.cpuMs / conversations / steps).toFixed(2)} ms a step`
  return [
    { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.1 }, context },
    { what: `${what}: time`, limit, ratio: elapsed, target: { atMost: 1.1 } },
  ]
})

/** All conversations, so many of them at once. */
function roundOf(stage: StepStage, width: number): Round {
  return async () => {
    const costs: Cost[] = []
    for (let first = 0; first < conversations; first += width) {
      costs.push(await runTogether(stage, Array.from({ length: width }, (_, index) => `c${first + index}`)))
    }
    return {
      elapsedMs: costs.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
      cpuMs: costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    }
  }
}

async function runTogether({ server, begin, until, end }: StepStage, names: readonly string[]): Promise<Cost> {
  for (const name of names) await begin(name, steps)
  await until(names, 1)
  const cost = await server.measure(() => until(names, steps + 1))
  for (const name of names) await end(name)
  return cost
}
