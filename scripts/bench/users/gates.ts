/**
 * The rows that users notice, by the names of their gates. Each runs alone in under a minute, but for a day of work.
 */
import type { NamedGate } from '../gate.ts'
import { create } from './create.ts'
import { day } from './day.ts'
import { openEnd, readBack } from './history.ts'
import { idle } from './idle.ts'
import { start, stop } from './start.ts'
import { streaming } from './streaming.ts'
import { talk } from './talk.ts'
import { turns } from './turns.ts'

export const userGates: readonly NamedGate[] = [
  { name: 'user-start', gate: start, seconds: 12 },
  { name: 'user-create', gate: create, seconds: 10 },
  { name: 'user-talk', gate: talk, seconds: 12 },
  { name: 'user-turns', gate: turns, seconds: 15 },
  { name: 'user-open', gate: openEnd, seconds: 25 },
  { name: 'user-history', gate: readBack, seconds: 12 },
  { name: 'user-stream-1', gate: streaming(1), seconds: 20 },
  { name: 'user-stream-10', gate: streaming(10), seconds: 20 },
  { name: 'user-stream-50', gate: streaming(50), seconds: 20 },
  { name: 'user-stream-200', gate: streaming(200), seconds: 20 },
  { name: 'user-idle', gate: idle, seconds: 20 },
  { name: 'user-stop', gate: stop, seconds: 20 },
  { name: 'user-day', gate: day, seconds: 60 },
]
