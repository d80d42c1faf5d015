/** Promises of src/conversation: one order, no double, stop means stop. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const feed = ['test/conversation/feed.test.ts']
const journal = ['test/conversation/journal.test.ts']
const runner = ['test/conversation/runner.test.ts', 'test/conversation/runner-stop.test.ts']
const questions = ['test/conversation/questions.test.ts']
const service = ['test/conversation/service.test.ts', 'test/conversation/service-failures.test.ts']

export const conversationMutations: readonly Mutation[] = [
  {
    file: 'src/conversation/feed.ts',
    old: 'return this.#state === \'ready\' && this.#next === sequence',
    new: 'return this.#state === \'ready\'',
    promise: 'No event is doubled for a reader that joins when a group is durable and its first event is not published.',
    tests: feed,
  },
  {
    file: 'src/conversation/feed.ts',
    old: 'this.#head = event.sequence + 1',
    new: 'this.#head = this.#place.source.eventCount',
    promise: 'A frame that is not stored does not overtake the rest of a group that is being published.',
    tests: feed,
  },
  {
    file: 'src/conversation/feed.ts',
    old: 'if (reader.wants(this.#head)) reader.push(',
    new: 'reader.push(',
    promise: 'A frame that is not stored goes to readers at the head only.',
    tests: feed,
  },
  {
    file: 'src/conversation/feed.ts',
    old: 'if (this.#readers.size >= this.#limit) throw',
    new: 'if (this.#readers.size > this.#limit) throw',
    promise: 'A conversation has a limited number of readers.',
    tests: feed,
  },
  {
    file: 'src/conversation/feed.ts',
    old: 'if (this.#sink.write(encoded)) this.#next++',
    new: 'if (this.#sink.write(encoded) || this.#next >= 0) this.#next++',
    promise: 'An event that a reader did not take is read again from the log.',
    tests: feed,
  },
  {
    file: 'src/conversation/journal.ts',
    old: 'if (this.#pending.length === 0) return this.#options.feed.push(json)',
    new: 'if (this.#pending.length >= 0) return this.#options.feed.push(json)',
    promise: 'A delta waits for the events before it.',
    tests: journal,
  },
  {
    file: 'src/conversation/journal.ts',
    old: 'await this.#options.log.reopen()\n    this.#status = this.state.execution_status',
    new: 'await this.#options.log.reopen()',
    promise: 'After a failure of the log the status is that of the last durable line.',
    tests: journal,
  },
  {
    file: 'src/conversation/questions.ts',
    old: 'this.#asked.delete(id)',
    new: 'this.#asked.has(id)',
    promise: 'A question ends once.',
    tests: questions,
  },
  {
    file: 'src/conversation/questions.ts',
    old: 'this.#settle(question.id, late)',
    new: 'this.#settle(question.id, { outcome: \'accepted\' })',
    promise: 'A question that nobody answers in time is denied.',
    tests: questions,
  },
  {
    file: 'src/conversation/runner.ts',
    old: 'const unserved = isOwn ? [] : [...journal.state.unserved]',
    new: 'const unserved = [...journal.state.unserved]',
    promise: 'A run that the agent has begun serves no message that waits.',
    tests: ['test/conversation/own-run.test.ts'],
  },
  {
    file: 'src/conversation/questions.ts',
    old: 'if (this.#asked.size === 1) this.#open()',
    new: 'this.#open()',
    promise: 'Questions are open one at a time.',
    tests: questions,
  },
  {
    file: 'src/conversation/service.ts',
    old: 'clearInterval(this.#eviction)',
    new: 'void this.#eviction',
    promise: 'close() of the service leaves no timer.',
    tests: ['test/conversation/service-close.test.ts'],
  },
  {
    file: 'src/conversation/service.ts',
    old: 'if (conversation.isBusy || this.#changing.has(id) || !this.#isIdle(slot)) return',
    new: 'if (this.#changing.has(id) || !this.#isIdle(slot)) return',
    promise: 'A conversation that works is not closed for being idle.',
    tests: service,
  },
  {
    file: 'src/conversation/service.ts',
    old: 'if (entry !== undefined) this.#listing.set(entry)\n        throw thrown',
    new: 'throw thrown',
    promise: 'A conversation that could not be deleted is still listed.',
    tests: service,
  },
  {
    file: 'src/conversation/runner.ts',
    old: 'turn.fence()\n      this.#turn = undefined',
    new: 'this.#turn = undefined',
    promise: 'After the end of a turn nothing of it is recorded.',
    tests: runner,
  },
  {
    file: 'src/conversation/runner.ts',
    old: 'const refused = this.#stop === undefined ? this.#overBudget() : notBegun',
    new: 'const refused = this.#stop === undefined ? undefined : notBegun',
    promise: 'No turn begins once the budget is spent.',
    tests: ['test/conversation/budget.test.ts'],
  },
  {
    file: 'src/conversation/runner.ts',
    old: 'if (end.outcome === \'waiting\') return',
    new: 'if (end.outcome === \'waiting\' || end.outcome === \'finished\') return',
    promise: 'Each action has an answer when its turn is over.',
    tests: runner,
  },
  {
    file: 'src/conversation/runner.ts',
    old: 'const hasMore = (this.#again && journal.state.unserved.length > 0)',
    new: 'const hasMore = (this.#again && journal.state.unserved.length > 10)',
    promise: 'A message that comes while a run ends is served by another run.',
    tests: runner,
  },
  {
    file: 'src/conversation/usage.ts',
    old: '.reduce((sum, totals) => sum + totals.cost, 0)',
    new: '.reduce((most, totals) => Math.max(most, totals.cost), 0)',
    promise: 'The budget counts what all usages cost.',
    tests: ['test/conversation/usage.test.ts', 'test/conversation/budget.test.ts'],
  },
  {
    file: 'src/conversation/requests.ts',
    old: 'if (known.digest === request.digest) return true\n  throw',
    new: 'if (known.digest !== undefined) return true\n  throw',
    promise: 'An idempotency key that comes with another request is refused.',
    tests: ['test/conversation/requests.test.ts'],
  },
  {
    file: 'src/conversation/requests.ts',
    old: 'if (open !== undefined && isSame(open.request, request)) return open.end',
    new: 'if (open === undefined && isSame(request, request)) await undefined',
    promise: 'Two requests with one key at the same time are done once.',
    tests: ['test/conversation/requests.test.ts'],
  },
  {
    file: 'src/conversation/status-table.ts',
    old: 'paused: { run: \'running\' },',
    new: 'paused: { run: \'running\', message: \'idle\' },',
    promise: 'A message that comes to a paused conversation leaves it paused.',
    tests: ['test/conversation/status-table.test.ts'],
  },
  {
    file: 'src/conversation/live-turn.ts',
    old: 'if (draft.kind === \'ActionEvent\') this.#markServed()',
    new: 'if (draft.kind === \'PauseEvent\') this.#markServed()',
    promise: 'A message that made an agent act is not served a second time after a crash.',
    tests: ['test/conversation/opening.test.ts'],
  },
]
