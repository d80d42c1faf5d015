/**
 * Promises of src/parts/retention: the conversations that go, that stay and that are refused. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const families = ['test/parts/retention/families.test.ts']
const passes = ['test/parts/retention/retention.test.ts']
const command = ['test/parts/retention/prune.test.ts']

const limits = ['test/parts/retention/limits.test.ts']
const keyDisk = ['test/parts/retention/key-disk.test.ts']
const keyUse = ['test/parts/retention/key-use.test.ts']

export const retentionMutations: readonly Mutation[] = [
  {
    file: 'src/parts/retention/limits.ts',
    old: 'new Map([...listed, ...this.#creating.values()])',
    new: 'new Map([...listed])',
    promise: 'Requests at the same moment do not pass the limit of conversations together.',
    tests: limits,
  },
  {
    file: 'src/parts/retention/limits.ts',
    old: 'new Map([...running, ...this.#starting.values()])',
    new: 'new Map([...running])',
    promise: 'Requests at the same moment do not pass the limit of runs together.',
    tests: limits,
  },
  {
    file: 'src/parts/retention/limits.ts',
    old: 'if (maker === madeBy) count++',
    new: 'if (maker !== undefined || madeBy !== undefined) count++',
    promise: 'The limit of a key counts the conversations of this key only.',
    tests: limits,
  },
  {
    file: 'src/parts/keys/named-keys.ts',
    old: '      await this.#options.keepLimits()\n',
    new: '',
    promise: 'A key with limits counts only when its limits are kept.',
    tests: limits,
  },
  {
    file: 'src/conversation/conversation.ts',
    old: 'await (run ? beginning.run(take) : take())',
    new: 'await take()',
    promise: 'A message that would begin a run beyond the limit is refused.',
    tests: limits,
  },
  {
    file: 'src/conversation/conversation.ts',
    old: '      beginning.assertSpace()\n',
    new: '',
    promise: 'A message is refused when the data folder is full.',
    tests: limits,
  },
  {
    file: 'src/conversation/opening.ts',
    old: 'rules?.assertSpace(state.made_by, state.id)',
    new: 'rules?.assertSpace(undefined, state.id)',
    promise: 'A message is refused when the conversations of its key take up the disk space that the key may have.',
    tests: keyDisk,
  },
  {
    file: 'src/parts/retention/limits.ts',
    old: 'starting(id: string, madeBy: string | undefined): () => void {\n    this.assertSpace(madeBy, id)\n',
    new: 'starting(id: string, madeBy: string | undefined): () => void {\n',
    promise: 'A run is refused when the conversations of its key take up the disk space that the key may have.',
    tests: keyDisk,
  },
  {
    file: 'src/parts/files/transfer.ts',
    old: 'assertSpace(makerOf(call.principal))',
    new: 'assertSpace(undefined)',
    promise: 'An upload is refused when the conversations of its key take up the disk space that the key may have.',
    tests: keyDisk,
  },
  {
    file: 'src/parts/retention/key-use.ts',
    old: 'if (madeBy === undefined || sum === undefined) continue',
    new: 'if (madeBy === undefined || sum === undefined || sum > 0) continue',
    promise: 'The disk space of a key is that of all conversations that it made.',
    tests: keyUse,
  },
  {
    file: 'src/parts/retention/key-use.ts',
    old: 'known?.entry === entry',
    new: 'known !== undefined',
    promise: 'A conversation that has changed is measured again.',
    tests: keyUse,
  },
  {
    file: 'src/parts/retention/key-use.ts',
    old: 'if (!isOpen) closed.set',
    new: 'closed.set',
    promise: 'The size of an open conversation is measured each time, because it writes more than the list shows.',
    tests: keyUse,
  },
  {
    file: 'src/parts/retention/limits.ts',
    old: 'if ([...this.#starting.values()].some(([started]) => started === id)) return',
    new: '',
    promise: 'A conversation is not made without its first message because a measurement ended meanwhile.',
    tests: keyUse,
  },
  {
    file: 'src/conversation/opening.ts',
    old: 'records.allowance === undefined ? deps',
    new: 'records !== undefined ? deps',
    promise: 'A task of a sub-agent that works for its parent is not refused.',
    tests: ['test/conversation/run/admission.test.ts'],
  },
  {
    file: 'src/conversation/run/switches.ts',
    old: '    beginning.assertSpace()\n',
    new: '    void beginning\n',
    promise: 'A new model, which may be large, is refused at the limit of disk space.',
    tests: ['test/conversation/run/admission.test.ts'],
  },
  {
    file: 'src/api/conversations.ts',
    old: ' && !service.creations.knows(keyed)',
    new: '',
    promise: 'A repeated creation gets its first response also at a limit.',
    tests: limits,
  },
  {
    file: 'src/conversation/list/creations.ts',
    old: 'this.#open.has(request) || ',
    new: '',
    promise: 'A creation that is repeated while its first try is under way is not refused at a limit.',
    tests: limits,
  },
  {
    file: 'src/parts/openai/routes.ts',
    old: 'const release = parts.admission.rules?.starting(conversation.id, conversation.state.made_by)',
    new: 'const release = undefined',
    promise: 'A chat completion at a limit is refused before its stream begins.',
    tests: limits,
  },
  {
    file: 'src/parts/openai/routes.ts',
    old: 'parts.admission.rules?.starting(id, madeBy) ?? release',
    new: 'id === madeBy ? release : release',
    promise: 'A chat completion that is refused at a limit makes no conversation.',
    tests: limits,
  },
  {
    file: 'src/conversation/list/service.ts',
    old: 'this.#slots.has(id) || this.#changes.has(id)\n',
    new: 'this.#slots.has(id)\n',
    promise: 'A conversation that is being closed counts as open, because it still writes.',
    tests: ['test/conversation/list/unused.test.ts'],
  },
  {
    file: 'src/conversation/log/records.ts',
    old: '  state.made_by = fork.made_by\n',
    new: '',
    promise: 'A fork belongs to the key that forks.',
    tests: limits,
  },
  {
    file: 'src/parts/retention/families.ts',
    old: 'return due.reverse()',
    new: 'return due',
    promise: 'The conversation with the oldest change goes first.',
    tests: families,
  },
  {
    file: 'src/parts/retention/families.ts',
    old: 'updatedAt > newest ? updatedAt : newest',
    new: 'newest === \'\' ? updatedAt : newest',
    promise: 'A conversation stays as long as one below it.',
    tests: families,
  },
  {
    file: 'src/parts/retention/retention.ts',
    old: 'if (isKept) return keptReason',
    new: 'if (isKept && members.length === 0) return keptReason',
    promise: 'A conversation with the tag "keep" stays.',
    tests: passes,
  },
  {
    file: 'src/parts/retention/retention.ts',
    old: 'state === undefined ? \'it cannot be read\' : waitingWork(state)',
    new: 'state === undefined ? \'it cannot be read\' : undefined',
    promise: 'A conversation with a message that waits for a run stays.',
    tests: passes,
  },
  {
    file: 'src/parts/retention/retention.ts',
    old: 'if (conversations.isOpen(id)) return',
    new: 'if (conversations.isOpen(id) && id === \'\') return',
    promise: 'A conversation that somebody uses stays, with the reason.',
    tests: passes,
  },
  {
    file: 'src/parts/retention/retention.ts',
    old: 'await trail.writer?.begin(deedOf(id))',
    new: 'await Promise.resolve<((status: number) => void) | undefined>(void deedOf(id))',
    promise: 'The audit trail records each conversation that retention removes.',
    tests: passes,
  },
  {
    file: 'src/parts/retention/schedule.ts',
    old: 'if (late < this.#times.waitMs && !isQuiet()) return',
    new: 'if (late < this.#times.waitMs && isQuiet()) return',
    promise: 'A pass waits for a moment without a run.',
    tests: passes,
  },
  {
    file: 'src/parts/retention/command.ts',
    old: 'isDryRun ? await plan(call, limits) : await prune(call)',
    new: 'await (isDryRun ? prune(call) : plan(call, limits))',
    promise: 'A dry run removes nothing.',
    tests: command,
  },
  {
    file: 'src/conversation/list/service.ts',
    old: 'if (isUsed) throw new AppError(\'conflict\', \'The conversation is in use\')',
    new: 'void isUsed',
    promise: 'A conversation that was changed since retention judged it is not removed.',
    tests: ['test/conversation/list/unused.test.ts'],
  },
]
