/**
 * The behaviours that tests of other servers of this protocol assert (marks S and G), section by section, each with the
 * tests of this server that hold it. behaviours.test.ts reads the table.
 *
 * `note: ` is a behaviour that is not as there, with the reason: a decision (`src/DECISIONS.md`), or a test that is
 * missing.
 */
import type { Sentence } from '../sentences/sentence.ts'
import { agents } from './agents.ts'
import { conversations } from './conversations.ts'
import { services } from './services.ts'
import { settings } from './settings.ts'
import { wire } from './wire.ts'

export interface BehaviourSection {
  readonly title: string
  readonly behaviours: readonly Sentence[]
}

export const behaviours: readonly BehaviourSection[] = [...wire, ...conversations, ...settings, ...services, ...agents]
