/** Promises of src/parts/builtin: calls are recorded before they run, and turns end. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const calls = ['test/parts/builtin/tool-calls.test.ts']
const confirmation = ['test/parts/builtin/confirmation.test.ts']
const driving = ['test/parts/builtin/driving.test.ts']
const execute = ['test/parts/builtin/execute.test.ts']
const stuck = ['test/parts/builtin/stuck.test.ts']

export const builtinMutations: readonly Mutation[] = [
  {
    file: 'src/parts/builtin/loop.ts',
    old: 'view.add(await history.next())\n  const { mask } = host',
    new: 'const { mask } = host',
    promise: 'A tool starts after its action is durable.',
    tests: driving,
  },
  {
    file: 'src/parts/builtin/loop.ts',
    old: '// A summary may have spent the rest of the budget.\n  const refusal = overBudget(host)\n',
    new: 'const refusal = host.rules().budgetSpent === \'\' ? finished : undefined\n',
    promise: 'The budget is looked at again after a summary was paid for.',
    tests: ['test/parts/builtin/condensing/condenser.test.ts'],
  },
  {
    file: 'src/parts/builtin/loop.ts',
    old: '(overBudget(host) ?? judge(options, before) ??',
    new: '(judge(options, before) ??',
    promise: 'Nothing is paid for once the budget is spent, not even a summary.',
    tests: ['test/parts/builtin/condensing/condenser.test.ts'],
  },
  {
    file: 'src/parts/builtin/loop.ts',
    old: 'const waits = needsConfirmation(',
    new: 'const waits = judged.length > 1 && needsConfirmation(',
    promise: 'A call runs only when the policy lets it, also the first of an answer.',
    tests: driving,
  },
  {
    file: 'src/parts/builtin/loop.ts',
    old: 'const calls = withOwnIds(message.tool_calls ?? [], (id) => view.hasId(id), randomUUID)',
    new: 'const calls = withOwnIds(message.tool_calls ?? [], () => false, randomUUID)',
    promise: 'A call whose id was used before in the conversation gets an id of its own.',
    tests: ['test/parts/builtin/weather.test.ts'],
  },
  {
    file: 'src/parts/builtin/loop.ts',
    old: 'const masked = await maskMessage(message, maskingWays(host))',
    new: 'const masked = message',
    promise: 'What a model says beside its calls is masked before it is recorded.',
    tests: driving,
  },
  {
    file: 'src/parts/builtin/execute.ts',
    old: 'while (next < calls.length && !turn.signal.aborted) {',
    new: 'while (next < calls.length) {',
    promise: 'After a stop no further tool of the batch starts.',
    tests: execute,
  },
  {
    file: 'src/parts/builtin/execute.ts',
    old: 'Array.from({ length: Math.min(calls.length, limit) }, work)',
    new: 'Array.from({ length: calls.length }, work)',
    promise: 'No more tools run at once than the settings allow.',
    tests: execute,
  },
  {
    file: 'src/parts/builtin/execute.ts',
    old: 'if (refusal !== undefined) return [rejection(call, refusal), ...notes.map(environmentMessage)]',
    new: 'if (refusal === \'\') return [rejection(call, refusal), ...notes.map(environmentMessage)]',
    promise: 'A tool that a hook blocks does not run.',
    tests: ['test/parts/hooks/points.test.ts'],
  },
  {
    file: 'src/parts/builtin/confirmation.ts',
    old: 'return batch.some(({ risk }) => asksFor(hasAnalyzer ? risk : \'UNKNOWN\', policy))',
    new: 'return batch.some(({ risk }) => asksFor(risk, policy))',
    promise: 'The risk that a model declares counts for nothing without an analyzer.',
    tests: confirmation,
  },
  {
    file: 'src/parts/builtin/confirmation.ts',
    old: 'rank[risk] >= rank[policy.threshold]',
    new: 'rank[risk] > rank[policy.threshold]',
    promise: 'A risk as high as the threshold is asked about.',
    tests: confirmation,
  },
  {
    file: 'src/parts/builtin/recorded-calls.ts',
    old: 'return [{ actionId: id, callId: call.id, tool, action, recorded }]',
    new: 'return [{ actionId: id, callId: call.id, tool, action: recorded, recorded }]',
    promise: 'A tool gets the arguments that the model gave it, not the masked ones.',
    tests: ['test/parts/builtin/original-calls.test.ts'],
  },
  {
    file: 'src/parts/builtin/recording/original-calls.ts',
    old: 'if (kept === undefined) return JSON.stringify(recorded).includes(secretMark) ? undefined : recorded',
    new: 'if (kept === undefined) return recorded',
    promise: 'A call whose original is gone is not executed from its masked record.',
    tests: ['test/parts/builtin/original-calls.test.ts'],
  },
  {
    file: 'src/parts/builtin/calls/tool-calls.ts',
    old: 'if (next.ok && next.action.kind === \'FinishAction\') break',
    new: 'if (next.ok && next.action.kind === \'ThinkAction\') break',
    promise: 'What stands behind a call of finish is not executed.',
    tests: calls,
  },
  {
    file: 'src/parts/builtin/calls/tool-calls.ts',
    old: 'const isCut = options.isCut && place === calls.length - 1',
    new: 'const isCut = options.isCut && place === calls.length',
    promise: 'A call that was cut off at a limit is not executed.',
    tests: calls,
  },
  {
    file: 'src/parts/builtin/view/stuck.ts',
    old: 'const window = newest.slice(-stuckWindow)',
    new: 'const window = newest.slice(-2 * stuckWindow)',
    promise: 'Who goes round in circles is judged by the newest 20 events.',
    tests: stuck,
  },
  {
    file: 'src/parts/builtin/view/stuck.ts',
    old: 'const events = window.slice(window.findLastIndex(isUserMessage) + 1)',
    new: 'const events = window',
    promise: 'What was done before the newest message of the user does not count as going round in circles.',
    tests: stuck,
  },
  {
    file: 'src/parts/builtin/view/view.ts',
    old: 'if (blockedReason(event) !== undefined) return',
    new: 'if (blockedReason(event) === \'\') return',
    promise: 'A message that a hook has refused is not told to a model.',
    tests: ['test/parts/builtin/view.test.ts', 'test/parts/hooks/points.test.ts', 'test/e2e/hooks.test.ts'],
  },
  {
    file: 'src/parts/builtin/condensing/condenser.ts',
    old: 'if (!ids.every((id) => here.has(id))) return',
    new: 'if (here.size < 0) return',
    promise: 'A summary of another branch is not recorded.',
    tests: ['test/parts/builtin/condensing/condenser.test.ts'],
  },
  {
    file: 'src/parts/builtin/condensing/condenser.ts',
    old: 'return share < minimum_progress ? undefined : plan',
    new: 'return share < 0 ? undefined : plan',
    promise: 'A summary that would hardly make the history smaller is not made.',
    tests: ['test/parts/builtin/condensing/condenser.test.ts'],
  },
  {
    file: 'src/parts/builtin/recorded-calls.ts',
    old: '    await nextTurn()\n',
    new: '    if (shown.length === 0) await nextTurn()\n',
    promise: 'Each call of an answer is masked in a turn of its own.',
    tests: ['test/parts/builtin/recorded-calls.test.ts'],
  },
]
