/**
 * Promises of src/process: the environment of a child, and that nothing of it is left. See scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const environment = ['test/process/environment.test.ts']
const family = ['test/process/family.test.ts', 'test/process/child.test.ts']

export const processMutations: readonly Mutation[] = [
  {
    file: 'src/process/environment.ts',
    old: 'if (value === undefined || isServerVariable(name)) continue',
    new: 'if (value === undefined) continue',
    promise: 'The keys of the server reach no child, whoever asks for them.',
    tests: environment,
  },
  {
    file: 'src/process/environment.ts',
    old: 'if (named.has(name) || name.startsWith(\'LC_\')) result[name] = value',
    new: 'result[name] = value',
    promise: 'A child gets of the environment of the server only what is documented.',
    tests: environment,
  },
  {
    file: 'src/process/environment.ts',
    old: 'if (isLoaderVariable(name)) throw cannotSet(',
    new: 'if (name === \'\') throw cannotSet(',
    promise: 'No secret sets a variable that changes how programs load.',
    tests: environment,
  },
  {
    file: 'src/base/loader-variable.ts',
    old: 'const upper = name.toUpperCase()',
    new: 'const upper = name',
    promise: 'Variables that change how programs load are known in any case of letters.',
    tests: ['test/base/loader-variable.test.ts', ...environment],
  },
  {
    file: 'src/process/sweep.ts',
    old: 'const prefix = `${instance}/`',
    new: 'const prefix = instance',
    promise: 'The sweep of a server ends nothing of an instance whose id begins like its own.',
    tests: ['test/process/sweep.test.ts'],
  },
  {
    file: 'src/process/sweep.ts',
    old: 'if (left.length === 0 && areGroupsGone) return',
    new: 'if (left.length >= 0 && areGroupsGone) return',
    promise: 'A sweep that could not end a process says so.',
    tests: ['test/process/sweep.test.ts'],
  },
  {
    file: 'src/process/family.ts',
    old: 'if (!members.has(pid) && !members.has(ppid) && !sessions.has(session)) continue',
    new: 'if (!members.has(pid) && !sessions.has(session)) continue',
    promise: 'A child of a member is a member, in whatever session.',
    tests: family,
  },
  {
    file: 'src/process/family.ts',
    old: 'return entries.filter(({ pid, session }) => !ancestors.has(pid) && session !== ours?.session)',
    new: 'return entries.filter(({ pid }) => !ancestors.has(pid))',
    promise: 'What shares a session with the server is never ended.',
    tests: family,
  },
  {
    file: 'src/process/family.ts',
    old: 'if (empty === 2) return []',
    new: 'if (empty === 1) return []',
    promise: 'A family is gone when two searches in a row found nobody.',
    tests: family,
  },
  {
    file: 'src/process/proc.ts',
    old: 'known?.get(pid) ?? readProcess(proc, pid)',
    new: 'known === undefined ? readProcess(proc, pid) : known.get(pid)',
    promise: 'A second search finds the processes that came during the first.',
    tests: family,
  },
  {
    file: 'src/process/proc.ts',
    old: 'if (readProcess(proc, pid)?.start !== start) return',
    new: 'if (readProcess(proc, pid) === undefined) return',
    promise: 'A process is signalled only if its start time still fits.',
    tests: family,
  },
  {
    file: 'src/process/child.ts',
    old: 'await this.#signalLivingGroup(\'SIGTERM\')',
    new: 'await this.#signalLivingGroup(\'SIGKILL\')',
    promise: 'A child is asked to end before it is killed.',
    tests: ['test/process/child.test.ts'],
  },
  {
    file: 'src/process/pty.ts',
    old: 'else child.signalGroup(\'SIGINT\')',
    new: 'else child.signalGroup(\'SIGCONT\')',
    promise: 'Ctrl-C reaches the command over plain pipes too.',
    tests: ['test/process/pty.test.ts', 'test/parts/builtin/workspace/terminal-kinds-long.test.ts'],
  },
  {
    file: 'src/process/lock.ts',
    old: 'if (isOurs()) await removeFile(ownerPath)',
    new: 'await removeFile(ownerPath)',
    promise: 'A server that lost its folder leaves the note of the new owner alone.',
    tests: ['test/process/lock.test.ts'],
  },
  {
    file: 'src/process/lock.ts',
    old: 'fenceFolder(folder, isOurs)',
    new: 'fenceFolder(folder, () => true)',
    promise: 'A server that lost its folder changes no file there.',
    tests: ['test/process/lock.test.ts'],
  },
  {
    file: 'src/process/secret-folder.ts',
    old: 'return systemCodeOf(thrown) === \'EEXIST\' && isPrivate(path)',
    new: 'return systemCodeOf(thrown) === \'EEXIST\'',
    promise: 'Secrets are not written into a folder that somebody else has made.',
    tests: ['test/process/secret-folder.test.ts'],
  },
]
