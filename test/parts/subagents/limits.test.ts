/** How many sub-agents a conversation may have, in all and at once. The test holds back the conversations below. */
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../src/base/json.ts'
import type { ToolRun } from '../../../src/agents/tool.ts'
import { deferred } from '../../../src/base/wait.ts'
import type { SubEnd } from '../../../src/conversation/list/sub-run.ts'
import { askAbove } from '../../../src/parts/subagents/question.ts'
import { builtins } from '../../../src/parts/subagents/builtins.ts'
import { createTaskTool, runningLimit, totalLimit } from '../../../src/parts/subagents/task-tool.ts'
import { toAgent, type ConfirmationPolicy } from '../../../src/schema/generated/conversations.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('subagents/limits')
const finished: SubEnd = { status: 'finished', answer: 'done', failure: undefined }

interface World {
  readonly tool: Tool
  readonly release: () => void
  readonly running: () => number
  readonly created: () => number
}

interface Changes {
  readonly policy?: () => ConfirmationPolicy
  readonly analyzerOf?: () => Promise<null>
  readonly run?: (policy: JsonObject) => void
}

test('an action that cannot be read is denied, and so is one that is too long', async () => {
  const turn = { actionId: 'a', record: () => never('recorded'), ask: () => never('asked') }
  const asking = { call: { id: 'c' }, turn, name: 'explore', taskId: 't', mask: (text: string) => text }
  const answer = (action: JsonObject | null): Promise<unknown> =>
    askAbove({ toolName: 'terminal', action }, new AbortController().signal, asking)
  const reason = 'The action cannot be shown to the user for approval'
  assert.equal(await answer(null), { outcome: 'denied', reason })
  assert.match(JSON.stringify(await answer({ command: 'x'.repeat(30_000) })), /denied.*too long.*make it shorter/)
})

function never(what: string): never {
  throw new Error(`An action that nobody sees was ${what}`)
}

function worldWith(existing: number, changes: Changes = {}): World {
  const gate = deferred<void>()
  let running = 0
  let created = 0
  const tool = createTaskTool({
    host: {
      conversationId: 'parent', workingDir: '/', agentDefinitions: [], mask: (text) => text,
      policy: changes.policy ?? (() => ({ kind: 'NeverConfirm' })),
      rules: () => ({ maxIterations: 10, stuckDetection: true, analyzer: null, budgetSpent: undefined }),
    },
    agent: () => toAgent({ llm: { model: 'openai/x' }, tools: [{ name: 'glob' }] }),
    definitions: builtins,
    log: { warn: () => undefined },
    conversations: { info: async () => ({}) },
    subConversations: {
      create: async () => `child-${++created}`,
      async run(_id, { policy }) {
        changes.run?.(policy)
        running++
        await gate.promise
        return finished
      },
      setPolicy: async () => undefined,
      count: async () => existing + created,
      analyzerOf: changes.analyzerOf ?? (async () => null),
    },
  })
  return { tool, release: () => gate.resolve(), running: () => running, created: () => created }
}

const call: ToolRun = {
  id: 'call',
  signal: new AbortController().signal,
  turn: {
    actionId: 'action',
    pausing: new AbortController().signal,
    takeStep: () => true,
    ask: async () => ({ outcome: 'cancelled' }),
    usage: () => undefined,
    record: () => ({ id: 'event', durable: async () => undefined }),
  },
}

function give(tool: Tool): ReturnType<Tool['run']> {
  return tool.run({ kind: 'MCPToolAction', data: { prompt: 'work' } }, call)
}

test('no more sub-agents work at once than the limit says; the others wait for their turn', async () => {
  const { tool, release, running } = worldWith(0)
  const done = Array.from({ length: runningLimit + 3 }, () => give(tool))
  await until(() => running() === runningLimit)
  // A further call that did not wait would run by now.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.is(running(), runningLimit)
  release()
  assert.ok((await Promise.all(done)).every(({ is_error }) => is_error === false))
  assert.is(running(), runningLimit + 3)
})

test('a conversation has no more sub-agents than the limit says, also when calls come at once', async () => {
  const { tool, release, created } = worldWith(totalLimit - 2)
  release()
  const results = await Promise.all([give(tool), give(tool), give(tool), give(tool)])
  assert.is(created(), 2)
  assert.equal(results.map(({ is_error }) => is_error), [false, false, true, true])
  assert.match(JSON.stringify(results[3]), `This conversation has ${totalLimit} sub-agents, the most allowed`)
})

test('a policy that becomes stricter while a task is prepared is the policy of its run', async () => {
  let policy: ConfirmationPolicy = { kind: 'NeverConfirm' }
  const used: JsonObject[] = []
  const { tool, release } = worldWith(0, {
    policy: () => policy,
    async analyzerOf() {
      policy = { kind: 'AlwaysConfirm' }
      tool.policyChanged?.()
      return null
    },
    run: (set) => void used.push(set),
  })
  release()
  const read = tool.read({ prompt: 'Look', subagent_type: builtins[0]?.name ?? '' })
  assert.ok(read.ok)
  await tool.run(read.action, call)
  assert.equal(used, [{ kind: 'AlwaysConfirm' }])
})

test.run()
