/** Promises of src/rpc: JSON-RPC 2.0 over lines. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const lines = ['test/rpc/lines.test.ts']
const peer = ['test/rpc/peer.test.ts', 'test/rpc/peer-end.test.ts']

export const rpcMutations: readonly Mutation[] = [
  {
    file: 'src/rpc/lines.ts',
    old: "if (this.#state === 'closed' || lines === '') return",
    new: "if (this.#state === 'closed') return",
    promise: 'What came while a long line was parsed is handed over, although nothing comes after it.',
    tests: ['test/rpc/long-lines.test.ts'],
  },
  {
    file: 'src/rpc/lines.ts',
    old: 'if (this.#partBytes + (first === -1 ? chunk.length : first) > this.#lineLimitBytes) return ' +
      'this.#failTooLong()',
    new: 'if ((first === -1 ? chunk.length : first) > this.#lineLimitBytes) return this.#failTooLong()',
    promise: 'A line that comes in pieces is limited as a whole.',
    tests: lines,
  },
  {
    file: 'src/rpc/lines.ts',
    old: 'if (waiting > this.#queueLimitBytes) {',
    new: 'if (length > this.#queueLimitBytes) {',
    promise: 'What waits to be written is limited in all.',
    tests: lines,
  },
  {
    file: 'src/rpc/lines.ts',
    old: 'while (!this.#paused && !this.#isParsing && this.#hasMore()) {',
    new: 'while (!this.#isParsing && this.#hasMore()) {',
    promise: 'A framing that is paused delivers nothing.',
    tests: lines,
  },
  {
    file: 'src/rpc/peer.ts',
    old: 'if (this.#incoming.size >= this.#requestLimit) {',
    new: 'if (this.#incoming.size > 10 * this.#requestLimit) {',
    promise: 'The other side may have a limited number of requests open.',
    tests: peer,
  },
  {
    file: 'src/rpc/peer.ts',
    old: 'if (working !== undefined) this.#waitFor(working)',
    new: 'working?.catch(ignore)',
    promise: 'A notification that is being worked on holds back the messages after it.',
    tests: peer,
  },
  {
    file: 'src/rpc/peer.ts',
    old: 'this.#pending.close(reason)',
    new: 'void reason',
    promise: 'Requests that wait are rejected when the connection closes.',
    tests: peer,
  },
  {
    file: 'src/rpc/peer.ts',
    old: 'return { code: rpcCodes.internalError, message: \'Internal error\' }',
    new: 'return { code: rpcCodes.internalError, message: String(error) }',
    promise: 'The other side is told nothing of an unexpected failure.',
    tests: peer,
  },
  {
    file: 'src/rpc/peer.ts',
    old: 'if (this.#incoming.has(id)) {',
    new: 'if (this.#incoming.size < 0) {',
    promise: 'A second request with the id of an open one is refused.',
    tests: peer,
  },
  {
    file: 'src/rpc/pending.ts',
    old: 'this.#entries.delete(id)\n    return entry',
    new: 'return entry',
    promise: 'A request takes one answer: a second one is unknown.',
    tests: peer,
  },
  {
    file: 'src/rpc/message.ts',
    old: 'if (isError && result !== undefined && result !== null) return invalid(\'result_and_error\', value)',
    new: 'if (isError && result === value) return invalid(\'result_and_error\', value)',
    promise: 'An answer with a result and an error is refused.',
    tests: ['test/rpc/message.test.ts'],
  },
]
