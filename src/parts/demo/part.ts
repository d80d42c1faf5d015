/** The part `demo`: an agent that needs no model and no login. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demoAgentName } from '../../agents/acp/session/demo-modes.ts'
import type { Part } from '../../part.ts'

export const demo = {
  name: 'demo',
  about: 'A demonstration agent that needs no model and no login',
  programs: { [demoAgentName]: fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url)) },
} as const satisfies Part
