/** Tells the critics of the built-in agent whether files of a folder differ from the commit checked out at `open`. */
import type { Patches } from '../../offers.ts'
import { findRepository } from '../../workspace/git.ts'
import { History } from './history.ts'
import type { Git } from './program.ts'

export function createPatches(git: Git): Patches {
  return {
    async open(folder, begun) {
      const repository = await findRepository(folder)
      if (repository === undefined) return { isEmpty: async () => true }
      const tree = await new History(await git.open(repository, begun)).headTree()
      return {
        isEmpty: async (signal) => (await new History(await git.open(repository, signal)).changes(tree)).length === 0,
      }
    },
  }
}
