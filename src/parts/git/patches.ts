/**
 * Tells the critics, which rate the work of the built-in agent, whether a folder differs from the commit that was
 * checked out when `open` was called.
 */
import type { Patches } from '../../offers.ts'
import { findRepository } from '../../workspace/git.ts'
import { History } from './history.ts'
import { openIfInstalled, type Git } from './program.ts'

export function createPatches(git: Git): Patches {
  return {
    async open(folder, begun) {
      const repository = await findRepository(folder)
      const run = repository && (await openIfInstalled(git, repository, begun))
      if (repository === undefined || run === undefined) return { isEmpty: async () => true }
      const tree = await new History(run).headTree()
      return {
        isEmpty: async (signal) => (await new History(await git.open(repository, signal)).changes(tree)).length === 0,
      }
    },
  }
}
