/**
 * Promises about the things that a host provides: agents, models, tools, parts, programs. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const tests = ['test/e2e/embedding.test.ts']

export const embeddingMutations: readonly Mutation[] = [
  {
    file: 'src/host-parts.ts',
    old: 'if (right !== \'open\' && !allRights.has(right)) throw',
    new: 'if (right === \'\') throw',
    promise: 'A part of the host states a right that exists for each route.',
    tests,
  },
  {
    file: 'src/host-parts.ts',
    old: 'if (isTwice(name, names)) throw',
    new: 'if (name === \'\') throw',
    promise: 'A part of the host does not take the name of a part of the server.',
    tests,
  },
  {
    file: 'src/host-parts.ts',
    old: 'if (isTaken) throw',
    new: 'if (isTaken && route === \'\') throw',
    promise: 'A part of the host does not take a route of the server.',
    tests,
  },
  {
    file: 'src/host-parts.ts',
    old: 'if (value !== undefined && typeof value !== \'function\') throw',
    new: 'if (value === null) throw',
    promise: 'A host that hands in something else than a function is told so before its folder is locked.',
    tests,
  },
  {
    file: 'src/host-parts.ts',
    old: 'const parts = [...ownParts, ...hostPart(given), ...built]',
    new: 'const parts = [...built, ...ownParts, ...hostPart(given)]',
    promise: 'An offer of the host wins over the same offer of the server.',
    tests,
  },
  {
    file: 'src/agent-maker.ts',
    old: 'start({ ...change({ command, args, cwd, env }), marker })',
    new: 'start({ ...change({ command, args, cwd, env }), command, args, marker })',
    promise: 'The program that the host names is started for an external agent.',
    tests,
  },
]
