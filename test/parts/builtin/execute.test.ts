/** A batch of actions: how many run at once, the order of the results, and the actions that a stop leaves undone. */
import * as assert from 'uvu/assert'
import { executeAll, type ExecuteOptions, type RecordedCall } from '../../../src/parts/builtin/execute.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import { AppError } from '../../../src/base/errors.ts'
import type { Log } from '../../../src/base/log.ts'
import { deferred, type Deferred } from '../../../src/base/wait.ts'
import { toAction } from '../../../src/schema/generated/actions.ts'
import type { EventDraft } from '../../../src/schema/generated/events.ts'
import { toObservation } from '../../../src/schema/generated/observations.ts'
import { suite } from '../../support/suite.ts'
import { memoryHost } from '../../agents/acp/memory-host.ts'

const test = suite('agents/builtin/execute')

interface Batch {
  readonly calls: readonly RecordedCall[]
  readonly options: ExecuteOptions
  /** Places of the calls whose tools have begun. */
  readonly begun: readonly number[]
  /** Ends the tool of the call at this place. */
  end(place: number): Promise<void>
  /** Returns the recorded answers: the call of each, with its kind. */
  answers(): string[]
  stop(): void
  /** The lines of the log. */
  readonly log: readonly string[]
}

function batchOf(count: number, concurrencyLimit: number): Batch {
  const host = memoryHost('/repo')
  const turn = host.turn('go')
  const begun: number[] = []
  const log: string[] = []
  const warn: Log['warn'] = (message, { tool, error } = {}) => {
    log.push(`${message}: ${String(tool)}: ${error instanceof Error ? error.stack : ''}`)
  }
  const gates: Deferred<void>[] = Array.from({ length: count }, () => deferred())
  const calls = gates.map((gate, place): RecordedCall => {
    const run: Tool['run'] = async () => {
      begun.push(place)
      await gate.promise
      return toObservation({ kind: 'TerminalObservation', command: String(place), content: [] })
    }
    const action = toAction({ kind: 'TerminalAction', command: String(place) })
    return { actionId: `a${place}`, callId: `c${place}`, tool: toolOf(run), action, recorded: action }
  })
  const hooks = { beforeTool: async () => ({ refusal: undefined, notes: [] }), afterTool: async () => [] }
  return {
    calls,
    begun,
    log,
    options: {
      isApproved: false, turn, concurrencyLimit, takeStep: () => true, mask: (text) => text,
      maskObservation: async (observation) => observation, hooks, log: { warn },
    },
    async end(place) {
      gates[place]?.resolve()
      await settled()
    },
    answers: () => host.events.map(describe),
    stop: () => turn.stop(),
  }
}

function toolOf(run: Tool['run']): Tool {
  return {
    name: 'terminal', description: '', parameters: {}, isReadOnly: false, run,
    definition: { kind: 'TerminalTool', description: '', action_type: 'TerminalAction', title: 'terminal' },
    read: () => ({ ok: false, problem: 'not asked' }),
  }
}

function describe(event: EventDraft): string {
  return 'tool_call_id' in event ? `${event.kind} ${event.tool_call_id}` : event.kind
}

/** Lets all ready work run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test('no more tools run at once than the limit, and the next begins when one has ended', async () => {
  const { calls, options, begun, end } = batchOf(4, 2)
  const done = executeAll(calls, options)
  await settled()
  assert.equal(begun, [0, 1])
  await end(1)
  assert.equal(begun, [0, 1, 2])
  for (const place of [0, 2, 3]) await end(place)
  assert.is((await done).length, 4)
})

test('results are told in the order of the calls, whichever tool ends first', async () => {
  const { calls, options, answers, end } = batchOf(3, 3)
  const done = executeAll(calls, options)
  await end(2)
  await end(1)
  assert.equal(answers(), [])
  await end(0)
  await done
  assert.equal(answers(), ['ObservationEvent c0', 'ObservationEvent c1', 'ObservationEvent c2'])
})

test('after a stop no further tool begins, and what was done by then is told', async () => {
  const { calls, options, begun, answers, end, stop } = batchOf(3, 1)
  const done = executeAll(calls, options).then(() => 'done', (error: unknown) => String(error))
  await settled()
  stop()
  await end(0)
  assert.match(await done, 'stopped')
  assert.equal(begun, [0])
  assert.equal(answers(), ['ObservationEvent c0'])
})

test('an error that no tool of this server throws on purpose is logged with its stack, masked', async () => {
  const { calls: [call], options, log, answers } = batchOf(1, 1)
  assert.ok(call !== undefined)
  const failing = (error: Error): RecordedCall => ({ ...call, tool: toolOf(async () => { throw error }) })
  const mask = (text: string): string => text.replaceAll('canary-of-a-tool', '<secret-hidden>')
  await executeAll([failing(new AppError('invalid_input', 'No such file'))], { ...options, mask })
  assert.equal(log, [])
  await executeAll([failing(new TypeError('canary-of-a-tool is undefined'))], { ...options, mask })
  assert.equal(answers(), ['AgentErrorEvent c0', 'AgentErrorEvent c0'])
  assert.match(log.join(), /^A tool failed unexpectedly: terminal: TypeError: <secret-hidden> is undefined\n +at /)
})

test.run()
