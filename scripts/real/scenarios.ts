/**
 * The scenarios that every agent goes through, from a plain turn to a killed program, and the events that a client must
 * see.
 *
 * Where agents differ by nature (who remembers, who stops when denied), `agents` says it; everything else must be the
 * same for all of them.
 */
import { isAcpServer } from '../../src/schema/generated/settings.ts'
import type { RealAgent } from './agents.ts'
import { askBeside, askDuringTurn, mcpTool } from './beside.ts'
import {
  cancelQuestion, cancelText, cancelTool, killedAgent, restartBetween, restartInside,
} from './interruptions.ts'
import { failing, withoutCredential } from './model-failures.ts'
import { growingCalls, ownTurn, slowFile, slowQuestion } from './streamed-calls.ts'
import { renamed, resumedCall } from './identity.ts'
import type { Scenario } from './scene.ts'
import { actsUnasked, looksAround } from './unasked.ts'
import { allowedTurn, denied, edit, openTurn, unknownMode } from './turns.ts'

/** Tokens per second: of a large model, of a small one, of one that hardly streams. */
export const usualPaces: readonly number[] = [20, 80, 400]
/** For scenarios in which the model calls no tool. */
const paces = [400]

export const scenarios: readonly Scenario[] = [
  { name: 'no credential, then one', run: withoutCredential, isFor: ({ keyVariable }) => keyVariable !== '', paces },
  { name: 'turn, asked and allowed', run: allowedTurn },
  { name: 'turn that never asks', run: openTurn },
  { name: 'mode that is not offered', run: unknownMode },
  { name: 'edit of a file', run: edit },
  { name: 'denied', run: denied },
  { name: 'commands that only read', run: looksAround },
  { name: 'acts without asking', run: actsUnasked, isFor: ({ provider }) => provider === 'opencode' },
  { name: 'tool of an MCP server', run: mcpTool },
  { name: 'question beside the work', run: askBeside, paces },
  { name: 'question during a turn', run: askDuringTurn },
  { name: 'cancel while text streams', run: cancelText, paces },
  { name: 'cancel while a tool runs', run: cancelTool },
  { name: 'cancel while it asks', run: cancelQuestion },
  { name: 'agent killed in mid-turn', run: killedAgent },
  { name: 'server restart between turns', run: restartBetween, paces },
  { name: 'server restart in mid-turn', run: restartInside },
  { name: 'question of a slow command', run: slowQuestion },
  { name: 'file that comes slowly', run: slowFile },
  { name: 'two calls that grow at once', run: growingCalls },
  { name: 'work behind the turn', run: ownTurn, isFor: endsBeforeItsCommands },
  { name: 'restart after a call', run: resumedCall },
  // Of a custom server only the command tells which agent it is, and a wrapper hides that.
  { name: 'agent under another name', run: renamed, isFor: ({ provider }) => isAcpServer(provider) },
  { name: 'model answers 400', run: failing(400), paces },
  { name: 'model answers 401', run: failing(401), paces },
  { name: 'model answers 429', run: failing(429), paces },
  { name: 'model answers 500', run: failing(500), paces },
]

function endsBeforeItsCommands({ runInBackground, waitsForBackground }: RealAgent): boolean {
  return runInBackground !== undefined && waitsForBackground !== true
}
