/**
 * Promises of src/storage: nothing acknowledged is lost, and nobody sees data that is not durable. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const crash = ['test/storage/crash.test.ts']
const log = ['test/storage/log.test.ts']
const groups = ['test/storage/group-commit.test.ts']

export const storageMutations: readonly Mutation[] = [
  {
    file: 'src/storage/group-commit.ts',
    old: 'group.bytes += line.bytes.length\n    group.end = this.#queuedEnd',
    new: 'group.bytes += line.bytes.length\n    group.end = this.#queuedEnd\n    this.#options.onCommit([])\n' +
      '    group.done.resolve()',
    promise: 'durable() resolves when the bytes are on the disk and not before.',
    tests: [...log, ...crash],
  },
  {
    file: 'src/storage/group-commit.ts',
    old: 'if (this.#failure !== undefined) throw this.#failure\n    if (this.queuedBytes',
    new: 'if (this.queuedBytes',
    promise: 'A log whose write failed takes nothing more.',
    tests: [...log, ...crash],
  },
  {
    file: 'src/storage/group-commit.ts',
    old: 'await this.#options.file.truncate(this.#durableEnd.offset)',
    new: 'void this.#durableEnd.offset',
    promise: 'A log that goes on after a failure is cut back to its last durable line.',
    tests: [...log, ...crash],
  },
  {
    file: 'src/storage/group-commit.ts',
    old: 'if (this.queuedBytes > this.#options.queueLimitBytes) {',
    new: 'if (this.queuedBytes < 0) {',
    promise: 'What waits for the disk is limited.',
    tests: log,
  },
  {
    file: 'src/storage/group-commit.ts',
    old: 'for (const lost of [group, ...this.#waiting.splice(0)]) lost.done.reject(failure)',
    new: 'for (const lost of [group]) lost.done.reject(failure)',
    promise: 'After a failed write, what waited behind it fails too.',
    tests: groups,
  },
  {
    file: 'src/storage/recovery.ts',
    old: 'if (keep) await keepCopy(options, end.offset, length)',
    new: 'if (keep) void keepCopy',
    promise: 'What is cut from a log is kept beside it, unless it is an unfinished line.',
    tests: crash,
  },
  {
    file: 'src/storage/recovery.ts',
    old: 'await log.truncate(end.offset)',
    new: 'void log',
    promise: 'A torn tail is cut off when a log is opened.',
    tests: [...log, ...crash],
  },
  {
    file: 'src/storage/recovery.ts',
    old: '  await log.sync()\n  return { end, damages',
    new: '  return { end, damages',
    promise: 'What a killed process had written is synced before it is served.',
    tests: [...crash, ...log],
  },
  {
    file: 'src/storage/log.ts',
    old: 'if (label !== undefined && label.upper <= this.#lastUpper && this.failure === undefined) {',
    new: 'if (label !== undefined && label.upper < this.#lastUpper && this.failure === undefined) {',
    promise: 'No two events of a log have the same upper half of an id.',
    tests: log,
  },
  {
    file: 'src/storage/log.ts',
    old: 'await this.#commit.idle()\n    await this.#indexing',
    new: 'await this.#indexing',
    promise: 'A log is closed when all that was appended is durable or has failed.',
    tests: groups,
  },
  {
    file: 'src/storage/chain.ts',
    old: 'const own = digest(bytes.subarray(1, end))',
    new: 'const own = digest(bytes.subarray(headLength, end))',
    promise: 'The hash of a line covers the hash of the line before.',
    tests: ['test/storage/chain.test.ts'],
  },
  {
    file: 'src/storage/data-folder-claim.ts',
    old: 'if (foreign === undefined) return false',
    new: 'if (foreign !== formatFile) return false',
    promise: 'A folder that is neither empty nor a data folder is refused before anything in it is touched.',
    tests: ['test/storage/data-folder-claim.test.ts'],
  },
  {
    file: 'src/storage/data-folder-claim.ts',
    old: 'owner === undefined || user === undefined || owner === user',
    new: 'owner === undefined || user === undefined || owner !== Infinity',
    promise: 'Nobody but its owner writes into a data folder, not even root.',
    tests: ['test/cli/foreign-folder.test.ts'],
  },
  {
    file: 'src/storage/data-folder-claim.ts',
    old: 'if (others !== \'write\') return others',
    new: 'if (others !== \'nothing\') return others',
    promise: 'A data folder that other users may write is refused.',
    tests: ['test/storage/data-folder-claim.test.ts'],
  },
  {
    file: 'src/storage/catalogue.ts',
    old: 'if (temporaryPattern.test(name)) catalogue.#delete',
    new: 'if (name !== \'\') catalogue.#delete',
    promise: 'What this server did not make in temporary/ stays there.',
    tests: ['test/storage/catalogue.test.ts'],
  },
]
