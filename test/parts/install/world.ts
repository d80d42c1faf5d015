/** A folder for installed agents with a stand-in for npm, and the installer that writes there. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { installAgent, type InstallOptions } from '../../../src/parts/install/install.ts'
import type { Installation } from '../../../src/parts/install/record.ts'
import { makeFakeNpm } from '../../support/fake-npm.ts'
import { makeFolder } from '../../support/processes.ts'

export interface World {
  /** The folder for files that a test makes. */
  readonly folder: string
  readonly agentsDir: string
  /** The steps that were reported. */
  readonly steps: string[]
  /** With the stand-in behaving as `mode` says. */
  install(mode?: string, changes?: Partial<InstallOptions>): Promise<Installation>
}

export const codex = {
  name: 'codex', packageName: '@agentclientprotocol/codex-acp', binary: 'codex-acp', programs: {}, installCommand: '',
}

export const never: AbortSignal = new AbortController().signal

/** A test body with a world of its own, which is removed in the end. */
export function inWorld(body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const path = makeFakeNpm(folder)
    const agentsDir = join(folder, 'data', 'agents')
    const steps: string[] = []
    const install = (mode = 'script', changes: Partial<InstallOptions> = {}): Promise<Installation> =>
      installAgent({
        agentsDir,
        provider: codex,
        version: '2.6.0',
        environment: { PATH: path, HOME: folder, FAKE_NPM: mode, SESSION_API_KEY: 'the-key', EMPTY: undefined },
        signal: never,
        clock: () => 0,
        createId: randomUUID,
        report: (step) => void steps.push(step),
        locks: new Map(),
        platform: 'linux-x64',
        ...changes,
      })
    try {
      await body({ folder, agentsDir, steps, install })
    } finally {
      remove()
    }
  }
}
