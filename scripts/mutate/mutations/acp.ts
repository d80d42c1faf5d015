/** Promises of src/agents/acp: one answer for each action, nothing allowed unseen. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const buffer = ['test/agents/acp/message-buffer.test.ts']
const slots = ['test/agents/acp/slots.test.ts']
const permissions = ['test/agents/acp/permissions.test.ts']
const turn = ['test/agents/acp/agent-turn.test.ts']
const ownBeginning = ['test/agents/acp/own-beginning.test.ts']
const turnCalls = ['test/agents/acp/turn-calls.test.ts']
const turnEvents = ['test/agents/acp/turn-events.test.ts']

const unasked = ['test/agents/acp/unasked.test.ts']
const unaskedTurn = ['test/agents/acp/unasked-turn.test.ts']

export const acpMutations: readonly Mutation[] = [
  {
    file: 'src/agents/acp/unasked.ts',
    old: 'if (permission === \'allowed\') return \'fine\'',
    new: 'if (permission === \'allowed\' || permission === \'changed\') return \'fine\'',
    promise: 'What ran with another input than was allowed was not asked about.',
    tests: unasked,
  },
  {
    file: 'src/agents/acp/unasked.ts',
    old: 'if (moreThanPrograms.test(bare) || doesMore.test(bare)) return false',
    new: 'if (moreThanPrograms.test(bare)) return false',
    promise: 'A program that reads is let through without the arguments by which it writes.',
    tests: unasked,
  },
  {
    file: 'src/agents/acp/turn-calls.ts',
    old: 'known?.updateLate(news)',
    new: 'known?.isOver',
    promise: 'A call that was refused and ends well all the same is seen.',
    tests: unasked,
  },
  {
    file: 'src/agents/acp/modes.ts',
    old: 'isMeasured ? unasked : unasked.filter((words) => words !== \'*\')',
    new: 'isMeasured ? unasked : unasked',
    promise: 'A sandbox is trusted in the program that was measured only.',
    tests: unasked,
  },
  {
    file: 'src/agents/acp/unasked-calls.ts',
    old: 'return onUnasked === \'allow\' ? undefined',
    new: 'return onUnasked !== \'allow\' ? undefined',
    promise: 'A call that nobody was asked about stops its turn unless the conversation allows such calls.',
    tests: unaskedTurn,
  },
  {
    file: 'src/agents/acp/unasked-calls.ts',
    old: 'if (!asks(host.policy())) return undefined',
    new: 'if (asks(host.policy()) === undefined) return undefined',
    promise: 'Under a policy that asks for nothing no call is marked or stopped.',
    tests: unaskedTurn,
  },
  {
    file: 'src/agents/acp/prompt-turn.ts',
    old: 'await this.#cancel(answer, true)',
    new: 'await this.#cancel(answer, false)',
    promise: 'Nothing is left of a command that nobody was asked about.',
    tests: unaskedTurn,
  },
  {
    file: 'src/agents/acp/message-buffer.ts',
    old: 'if (sort === \'text\') return hasText && id !== this.#messageId',
    new: 'if (sort === \'text\') return false',
    promise: 'A message ends where the agent begins another one with another id.',
    tests: buffer,
  },
  {
    file: 'src/agents/acp/message-buffer.ts',
    old: 'return hasText && (id === undefined || id !== this.#messageId)',
    new: 'return hasText && id !== undefined && id !== this.#messageId',
    promise: 'A thought after text ends the message of an agent that gives no ids.',
    tests: buffer,
  },
  {
    file: 'src/agents/acp/message-buffer.ts',
    old: 'if (this.#size >= this.#limitChars) return true',
    new: 'if (this.#size >= 10 * this.#limitChars) return true',
    promise: 'A message that reaches its limit ends, and the next one begins.',
    tests: buffer,
  },
  {
    file: 'src/agents/acp/slots.ts',
    old: 'this.#promised--\n        this.#giveNext()',
    new: 'this.#promised--',
    promise: 'A slot that was promised to a conversation that left goes to the next one.',
    tests: slots,
  },
  {
    file: 'src/agents/acp/slots.ts',
    old: 'this.#promised--\n        this.#giveNext()',
    new: 'this.#giveNext()',
    promise: 'A slot that was promised to a conversation that left is not counted as taken for ever.',
    tests: slots,
  },
  {
    file: 'src/agents/acp/slots.ts',
    old: 'return this.waiting > 0 || this.running + this.#promised >= this.#limit',
    new: 'return this.waiting > 0 || this.running >= this.#limit',
    promise: 'A slot that is promised counts as taken.',
    tests: slots,
  },
  {
    file: 'src/agents/acp/slots.ts',
    old: 'if (this.waiting > 0) this.#makeRoom()',
    new: 'if (this.waiting > 1000) this.#makeRoom()',
    promise: 'An agent that becomes idle makes room for one that waits.',
    tests: slots,
  },
  {
    file: 'src/agents/acp/permissions.ts',
    old: 'return selected(once ?? options.find((option) => option.kind === \'reject_always\'))',
    new: 'return selected(once ?? options[0])',
    promise: 'A refusal never selects an option that allows.',
    tests: permissions,
  },
  {
    file: 'src/agents/acp/permissions.ts',
    old: 'if (once === undefined) return { do: \'deny\'',
    new: 'if (once === undefined) return options[0] !== undefined ? { do: \'allow\', optionId: options[0].id } : { do: \'deny\'',
    promise: 'A request that offers no way to allow it once is denied.',
    tests: permissions,
  },
  {
    file: 'src/agents/acp/permissions.ts',
    old: 'case \'AlwaysConfirm\': return true',
    new: 'case \'AlwaysConfirm\': return false',
    promise: 'Under AlwaysConfirm the user is asked.',
    tests: permissions,
  },
  {
    file: 'src/agents/acp/turn-permissions.ts',
    old: 'for (const { event } of asked) await event.durable()',
    new: 'void asked',
    promise: 'Nothing is allowed that is not durable in the history.',
    tests: [...turn, 'test/agents/acp/agent-failures.test.ts'],
  },
  {
    file: 'src/agents/acp/turn-permissions.ts',
    old: 'if (this.#isOver(withdrawn)) return cancelledResult\n',
    new: '\n',
    promise: 'A turn that is being stopped allows nothing more.',
    tests: [...turn, 'test/agents/acp/agent-failures.test.ts'],
  },
  {
    file: 'src/agents/acp/prompt-turn.ts',
    old: 'const replace = hasRun && (await hasLeftovers(session, leftoverMs))',
    new: 'const replace = hasRun && false',
    promise: 'An agent whose command runs on after a stop is replaced.',
    tests: [...turn, 'test/agents/acp/agent-failures.test.ts', 'test/agents/acp/agent-session.test.ts'],
  },
  {
    file: 'src/agents/acp/own-beginning.ts',
    old: 'if (!this.#hasBegun && !this.#isWork(update, isNew)) return undefined',
    new: 'if (!this.#hasBegun) return undefined',
    promise: 'What an agent begins by itself does not run unseen.',
    tests: ownBeginning,
  },
  {
    file: 'src/agents/acp/own-beginning.ts',
    old: 'return this.#wasPrompted && !this.#isTail && isNewMessage && saysSomething(update)',
    new: 'return this.#wasPrompted && isNewMessage && saysSomething(update)',
    promise: 'The late tail of a turn begins no run.',
    tests: ownBeginning,
  },
  {
    file: 'src/agents/acp/own-turn.ts',
    old: 'return hasSaidSo === \'late\' || (await hasLeftovers(session))',
    new: 'return false',
    promise: 'An agent whose own work does not stop is ended.',
    tests: ['test/agents/acp/own-work.test.ts'],
  },
  {
    file: 'src/agents/acp/turn-calls.ts',
    old: 'this.#open.delete(call.id)',
    new: 'this.#open.has(call.id)',
    promise: 'Each action has exactly one answer.',
    tests: turnCalls,
  },
  {
    file: 'src/agents/acp/turn-calls.ts',
    old: 'if (contains(recorded.call, asked, this.#options) && !(isWhole && recorded.isIncomplete)) return open',
    new: 'if (!open.isOver) return open',
    promise: 'What is on record before a question is answered contains the command or diff of that question.',
    tests: [...turnCalls, 'test/agents/acp/streamed-calls.test.ts'],
  },
  {
    file: 'src/agents/acp/reported-call.ts',
    old: 'if (lengthens(before, this.#call)) memory.lengthensTexts = true',
    new: 'void lengthens',
    promise: 'A text that an agent lengthens is not recorded because it stands still.',
    tests: turnCalls,
  },
  {
    file: 'src/agents/acp/turn-calls.ts',
    old: 'const isOld = known !== undefined || this.#options.memory.has(id)',
    new: 'const isOld = known !== undefined',
    promise: 'The end of a call of an earlier turn is no call of this one.',
    tests: turnCalls,
  },
  {
    file: 'src/agents/acp/reported-call.ts',
    old: 'index === 0 ? { note, output } : undefined',
    new: 'index === 0 ? { note: \'\', output } : undefined',
    promise: 'What an agent changes after a call was allowed is told.',
    tests: turnCalls,
  },
  {
    file: 'src/agents/acp/turn-events.ts',
    old: 'if (plan === this.#lastPlan) return',
    new: 'if (plan === \'\') return',
    promise: 'A plan that has not changed is not recorded again.',
    tests: turnEvents,
  },
  {
    file: 'src/agents/acp/turn-events.ts',
    old: 'this.#options.record(messageDraft(content, reasoning, this.#responseId()))',
    new: 'this.#options.record(messageDraft(gathered.content, reasoning, this.#responseId()))',
    promise: 'What an agent says is masked before it is recorded.',
    tests: [...turnEvents, ...turn],
  },
  {
    file: 'src/agents/acp/credential-files.ts',
    old: '        unstored.add(folder)\n',
    new: '',
    promise: 'A renewed login that cannot be stored after a kill is kept.',
    tests: ['test/agents/acp/credential-files.test.ts'],
  },
  {
    file: 'src/agents/acp/credential-files.ts',
    old: 'if (around?.isDirectory() === false) throw',
    new: 'if (around === null) throw',
    promise: 'What a program has linked into the place of its folder is not removed.',
    tests: ['test/agents/acp/credential-files.test.ts'],
  },
]
