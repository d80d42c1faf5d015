/**
 * Promises of src/parts/install: an installation brings the bytes that were pinned, and runs nothing of them. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

export const installMutations: readonly Mutation[] = [
  {
    file: 'src/parts/install/npm.ts',
    old: '\'--prefix\', folder, \'--ignore-scripts\', ',
    new: '\'--prefix\', folder, ',
    promise: 'An installation runs no scripts of packages.',
    tests: ['test/parts/install/install.test.ts'],
  },
  {
    file: 'src/parts/install/npm.ts',
    old: 'kill -s TERM -- "-$$"; } 2>/dev/null &',
    new: 'true; } 2>/dev/null &',
    promise: 'An installation that is killed leaves nothing running.',
    tests: ['test/parts/install/command-long.test.ts'],
  },
  {
    file: 'src/parts/install/lock.ts',
    old: 'lock.packageName !== packageName || lock.version !== version',
    new: 'lock.packageName !== packageName',
    promise: 'A lock is for its own version.',
    tests: ['test/parts/install/locks.test.ts', 'test/parts/install/install.test.ts'],
  },
  {
    file: 'src/parts/install/install.ts',
    old: 'if (script !== undefined) {',
    new: 'if (typeof script === \'number\') {',
    promise: 'A package that runs a script of its own at installation is refused.',
    tests: ['test/parts/install/install.test.ts'],
  },
]
