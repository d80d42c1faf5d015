/** Promises of src/parts/subagents, and of analyzers and critics that ask no model. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const tasks = ['test/parts/subagents/tasks-long.test.ts']
const definitions = ['test/parts/subagents/definitions.test.ts']

export const subagentsMutations: readonly Mutation[] = [
  {
    file: 'src/parts/subagents/inheritance.ts',
    old: 'return rank[own.kind] > rank[above.kind] ? own : above',
    new: 'return rank[own.kind] >= 0 ? own : above',
    promise: 'A definition makes the confirmation policy stricter, never looser.',
    tests: definitions,
  },
  {
    file: 'src/parts/subagents/inheritance.ts',
    old: 'return !isTaskTool(name) && (wanted === undefined || wanted.includes(plainName(name)))',
    new: 'return wanted === undefined || wanted.includes(plainName(name))',
    promise: 'A sub-agent is not offered the tool for tasks: there is one level.',
    tests: definitions,
  },
  {
    file: 'src/parts/subagents/task-tool.ts',
    old: 'if (parent !== host.conversationId || name === undefined)',
    new: 'if (name === undefined && parent === undefined)',
    promise: 'A task of another conversation cannot be resumed.',
    tests: tasks,
  },
  {
    file: 'src/conversation/run/approvals.ts',
    old: 'if (questions.list().length > 0) return []',
    new: 'if (questions.list().length > 99) return []',
    promise: 'While a turn asks, its own actions do not wait for an answer.',
    tests: tasks,
  },
  {
    file: 'src/conversation/log/orphaned-run.ts',
    old: 'const wasInTurn = !kind.waitsBetweenRuns || pending.length > 0',
    new: 'const wasInTurn = !kind.waitsBetweenRuns',
    promise: 'After a kill no question of a turn is left open, whatever the kind of the agent.',
    tests: ['test/parts/subagents/kills.test.ts'],
  },
  {
    file: 'src/conversation/run/host.ts',
    old: 'takeStep: () => records.allowance?.takeStep() ?? true,',
    new: 'takeStep: () => true,',
    promise: 'The steps of a sub-agent count in the limit of its parent.',
    tests: tasks,
  },
  {
    file: 'src/conversation/run/agent-records.ts',
    old: 'this.allowance?.usage(report)',
    new: 'void this.allowance',
    promise: 'The usage of a sub-agent counts in its parent.',
    tests: tasks,
  },
  {
    file: 'src/conversation/list/sub-run.ts',
    old: "signal.addEventListener('abort', stop, { once: true })",
    new: "signal.addEventListener('abort', pause, { once: true })",
    promise: 'A stop of the parent interrupts the sub-agent.',
    tests: tasks,
  },
  {
    file: 'src/parts/builtin/agent.ts',
    old: 'tools.forEach((tool) => tool.policyChanged?.())',
    new: 'tools.forEach((tool) => void tool)',
    promise: 'A changed policy holds for the next action of a sub-agent that is at work.',
    tests: tasks,
  },
  {
    file: 'src/parts/builtin/risk/analyze.ts',
    old: "if (analyzer.kind === 'LLMSecurityAnalyzer') return risk",
    new: 'if (analyzer.kind.length > 0) return risk',
    promise: 'The word of the model does not count for an analyzer by fixed rules.',
    tests: ['test/parts/builtin/risk.test.ts'],
  },
  {
    file: 'src/parts/git/patches.ts',
    old: '.changes(tree)).length === 0',
    new: '.changes(tree === \'\' ? tree : await new History(await git.open(repository, signal)).headTree())).length === 0',
    promise: 'A critic sees changes that the agent has committed.',
    tests: ['test/e2e/judgement.test.ts'],
  },
]
