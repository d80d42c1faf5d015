/**
 * The built-in agent: 256 conversations at once whose model thinks for 2 seconds before each answer, beside one.
 *
 * They all ask and are answered at the same time, which is the worst case. The gate measures the time from the first
 * answer to the last request that any conversation sends after its last step.
 */
import type { Gate } from './gate.ts'
import { compare, type Round } from './rounds.ts'
import { withStage, type StepStage } from './step-stage.ts'

const conversations = 256
const steps = 2
const delayMs = 2000

export const waitingModels: Gate = ({ budgetMs }) => withStage('anthropic/claude-bench', async (stage) => {
  const { elapsed, ours } = await compare({ limit: roundOf(stage, 1), ours: roundOf(stage, conversations) }, budgetMs)
  return [{
    what: `${steps} steps in ${conversations} conversations at once, whose model takes ${delayMs / 1000} s: time`,
    limit: 'one conversation',
    ratio: elapsed,
    target: { atMost: 1.5 },
    context: `${(ours.elapsedMs / 1000).toFixed(1)} s`,
  }]
})

function roundOf(stage: StepStage, width: number): Round {
  const names = Array.from({ length: width }, (_, number) => `w${number}`)
  return async () => {
    await stage.beginAll(names, steps, delayMs)
    await stage.until(names, 1)
    const cost = await stage.server.measure(() => stage.until(names, steps + 1))
    await stage.endAll(names)
    return cost
  }
}
