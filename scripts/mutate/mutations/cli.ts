/**
 * Promises of src/config and src/cli: the options that are refused before a server starts. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const config = ['test/config.test.ts']

export const cliMutations: readonly Mutation[] = [
  {
    file: 'src/config.ts',
    old: 'if (sessionApiKeys.length === 0) throw unusable(`${reach}, ${expected}`)',
    new: 'if (sessionApiKeys.length > 9) throw unusable(`${reach}, ${expected}`)',
    promise: 'A public address without a key refuses to start.',
    tests: config,
  },
  {
    file: 'src/config.ts',
    old: 'if (noAuth) throw unusable(`noAuth with ${reach}',
    new: 'if (noAuth && host === \'\') throw unusable(`noAuth with ${reach}',
    promise: 'A server without keys listens on loopback only.',
    tests: config,
  },
  {
    file: 'src/config.ts',
    old: 'if (holds(dataDir, workspaceDir) || holds(workspaceDir, dataDir)) {',
    new: 'if (holds(dataDir, workspaceDir)) {',
    promise: 'The folder of workspaces is not around the data folder.',
    tests: config,
  },
  {
    file: 'src/config.ts',
    old: 'const shown = option.isSecret || wrong === undefined ? \'\' :',
    new: 'const shown = wrong === undefined ? \'\' :',
    promise: 'A secret that is no usable option does not show in the error.',
    tests: [...config, 'test/cli/options.test.ts'],
  },
  {
    file: 'src/cli/options.ts',
    old: 'if (kind === undefined) throw unknownOption(',
    new: 'if (kind === undefined && token.name === \'\') throw unknownOption(',
    promise: 'An option that does not exist is refused.',
    tests: ['test/cli/options.test.ts'],
  },
  {
    file: 'src/cli/options.ts',
    old: '...readVariables(sources),\n    ...readFlagValues(flags, sources),',
    new: '...readFlagValues(flags, sources),\n    ...readVariables(sources),',
    promise: 'A flag goes before a variable of the environment.',
    tests: ['test/cli/options.test.ts'],
  },
  {
    file: 'src/cli/options.ts',
    old: 'if (word === \'\') throw unusable(source, \'it is empty, expected a path\')',
    new: 'if (word === \' \') throw unusable(source, \'it is empty, expected a path\')',
    promise: 'An empty path is refused: it would be the current folder.',
    tests: ['test/cli/options.test.ts'],
  },
  {
    file: 'src/cli/options.ts',
    old: 'if (others !== \'write\' || mode === undefined) return',
    new: 'if (others !== \'nothing\' || mode === undefined) return',
    promise: 'A file with a key that other users may write is refused.',
    tests: ['test/cli/options.test.ts'],
  },
  {
    file: 'src/parts/install/folder.ts',
    old: 'if (isOurs && !used.has(name)) await removeTree',
    new: 'if (!used.has(name)) await removeTree',
    promise: 'A folder among the installed agents that no installation has named is not removed.',
    tests: ['test/e2e/cli.test.ts'],
  },
]
