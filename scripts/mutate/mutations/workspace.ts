/**
 * Promises of src/workspace and src/parts/builtin/tools: walls of the file tools, the terminal. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const paths = ['test/parts/workspace-files/paths.test.ts', 'test/parts/builtin/tools/path-attacks.test.ts']
const files = ['test/parts/workspace-files/files.test.ts']

export const workspaceMutations: readonly Mutation[] = [
  {
    file: 'src/parts/workspace-files/paths.ts',
    old: 'if (walk.stack.length === 1) throw outside(walk)',
    new: 'if (walk.stack.length === 1) return',
    promise: 'A path that leads out of the workspace by .. is refused.',
    tests: paths,
  },
  {
    file: 'src/parts/workspace-files/paths.ts',
    old: 'const parts = partsInside(walk, target)',
    new: 'const parts = partsOf(target)',
    promise: 'A link to an absolute path outside the workspace leads nowhere.',
    tests: paths,
  },
  {
    file: 'src/parts/workspace-files/paths.ts',
    old: 'if (++walk.links > linkLimit) throw',
    new: 'if (++walk.links > 100 * linkLimit) throw',
    promise: 'A path goes through a limited number of links.',
    tests: paths,
  },
  {
    file: 'src/parts/workspace-files/directory-handle.ts',
    old: 'if (this.#rules.refused.has(await directory.#identity())) throw',
    new: 'if (this.#rules.refused.has(this.#path)) throw',
    promise: 'The folders of the server itself are refused, whatever path leads there.',
    tests: paths,
  },
  {
    file: 'src/parts/workspace-files/directory-handle.ts',
    old: 'const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW |',
    new: 'const flags = O_RDONLY | O_DIRECTORY |',
    promise: 'A directory that is exchanged for a link during a walk is not entered.',
    tests: [...paths, 'test/parts/builtin/tools/races.test.ts'],
  },
  {
    file: 'src/parts/workspace-files/files.ts',
    old: 'if (stats.nlink > 1n) {',
    new: 'if (stats.nlink > 100n) {',
    promise: 'A file with a second name (a hard link) is not written.',
    tests: [...files, ...paths],
  },
  {
    file: 'src/parts/workspace-files/files.ts',
    old: 'if (options.expected !== undefined && options.expected !== found) throw changed(place)',
    new: 'if (options.expected === \'\') throw changed(place)',
    promise: 'A file that was changed meanwhile is not overwritten.',
    tests: files,
  },
  {
    file: 'src/parts/workspace-files/files.ts',
    old: 'mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)',
    new: 'mode | O_NOFOLLOW | O_NOCTTY)',
    promise: 'Nobody waits for the other end of a named pipe.',
    tests: [...files, ...paths],
  },
  {
    file: 'src/workspace/place.ts',
    old: 'const overlaps = contains(secret, real) || contains(real, secret)',
    new: 'const overlaps = contains(secret, real)',
    promise: 'A folder above the data of the server is no workspace.',
    tests: ['test/workspace/place.test.ts'],
  },
  {
    file: 'src/parts/builtin/workspace/shell.ts',
    old: 'return code ?? 128 + (signal === null ? 0 : constants.signals[signal])',
    new: 'return code ?? 1',
    promise: 'The exit code of a shell that a signal ended tells the signal.',
    tests: ['test/parts/builtin/workspace/terminal-kinds-long.test.ts'],
  },
  {
    file: 'src/parts/builtin/workspace/shell.ts',
    old: '// The command file may hold secrets.\n    await removeFile(command)',
    new: '',
    promise: 'The file with a command and its secrets is removed when the command has ended.',
    tests: ['test/parts/builtin/workspace/shell-script.test.ts'],
  },
  {
    file: 'src/parts/builtin/workspace/shell-script.ts',
    old: 'return own === nonce && /^\\d{1,3}$/.test(status) ? Number(status) : undefined',
    new: 'return /^\\d{1,3}$/.test(status) ? Number(status) : undefined',
    promise: 'The end of a command is told by its own nonce: what a program prints cannot claim it.',
    tests: ['test/parts/builtin/workspace/shell-script.test.ts'],
  },
  {
    file: 'src/parts/builtin/tools/terminal.ts',
    old: 'if (action.command.includes(\'\\0\')) return problem(',
    new: 'if (action.command === \'\\0\\0\') return problem(',
    promise: 'A command with a NUL is refused.',
    tests: ['test/parts/builtin/tools/terminal.test.ts'],
  },
  {
    file: 'src/parts/builtin/tools/file-change.ts',
    old: 'const newVersion = await writeFile(place, done.bytes, { expected: version })',
    new: 'const newVersion = await writeFile(place, done.bytes)',
    promise: 'An edit does not overwrite what something else wrote since the file was read.',
    tests: ['test/parts/builtin/tools/file-change.test.ts'],
  },
  {
    file: 'src/parts/builtin/tools/undo-history.ts',
    old: 'Buffer.from(cipher.seal(before.bytes.toString(\'latin1\'), entry.id))',
    new: 'before.bytes',
    promise: 'What edits replace is kept sealed.',
    tests: ['test/parts/builtin/tools/undo-history.test.ts', 'test/parts/builtin/tools/file-editor.test.ts'],
  },
  {
    file: 'src/parts/builtin/tools/undo-history.ts',
    old: 'if (room < 0) break',
    new: 'if (room < -Infinity) break',
    promise: 'What is kept for undoing is limited.',
    tests: ['test/parts/builtin/tools/undo-history.test.ts'],
  },
  {
    file: 'src/parts/workspace-files/files.ts',
    old: 'if (code === \'EEXIST\') throw changed(place)',
    new: 'if (code === \'EEXIST\') return false',
    promise: 'A file that was made meanwhile is not overwritten by a new one.',
    tests: ['test/parts/workspace-files/files.test.ts'],
  },
]
