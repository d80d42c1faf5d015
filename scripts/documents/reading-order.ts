/**
 * The order in which to read the core, as a table with the lines of each step.
 *
 * Every file of the core that is written by hand belongs to exactly one step: the last step takes the files of `src`
 * itself that no other step names. A file in a folder without a step is an error.
 */
import { isGenerated } from '../shape/architecture.ts'
import type { SizedFile } from '../shape/sizes.ts'

interface Step {
  readonly purpose: string
  /** Files and folders of src. A folder ends with a slash. */
  readonly paths: readonly string[]
}

const steps: readonly Step[] = [
  {
    purpose: 'the options, the rights of the routes, what a part may add',
    paths: ['option.ts', 'config.ts', 'access.ts', 'part.ts', 'capabilities.ts', 'offers.ts'],
  },
  { purpose: 'errors, JSON, waiting, log, masking: used by all other files', paths: ['base/'] },
  { purpose: 'bytes: the log, its chain, its index, a crash', paths: ['storage/'] },
  { purpose: 'events, requests and settings as the wire has them', paths: ['schema/'] },
  { purpose: 'history, runs, confirmations', paths: ['conversation/'] },
  { purpose: 'who may connect, and how a request is served', paths: ['http/', 'api/'] },
  { purpose: 'the WebSocket', paths: ['ws/'] },
  { purpose: 'settings, secrets, sealing, providers', paths: ['settings/'] },
  {
    purpose: 'programs, their messages, the workspace',
    paths: ['process/', 'rpc/', 'workspace/'],
  },
  { purpose: 'an external agent', paths: ['agents/'] },
  { purpose: 'the command line and how everything is put together', paths: ['cli/', ''] },
]

export interface StepSize extends Step {
  readonly lines: number
}

/** The steps with their lines. @throws Error for a file of the core that no step has */
export function readingOrder(sources: readonly SizedFile[]): StepSize[] {
  const lines = new Map<Step, number>()
  for (const { path, lineCount } of sources) {
    const name = path.replace(/^src\//, '')
    if (isGenerated(path) || name.startsWith('parts/')) continue
    const step = steps.find(({ paths }) => {
      return paths.some((own) => own === name || (own.endsWith('/') && name.startsWith(own)))
    }) ??
      steps.find(({ paths }) => paths.includes('') && !name.includes('/'))
    if (step === undefined) throw new Error(`${path}: no step of the reading order has this file`)
    lines.set(step, (lines.get(step) ?? 0) + lineCount)
  }
  return steps.map((step) => ({ ...step, lines: lines.get(step) ?? 0 }))
}
