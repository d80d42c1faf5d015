/**
 * An attack, measured: its cost for the server while it lasts, whether others are answered meanwhile, and whether
 * anything is left of it afterwards.
 */
import * as assert from 'uvu/assert'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Target } from './attacks.ts'
import { percentile, sizeOf, startProbe } from './measures.ts'

export interface AttackFigures {
  readonly what: string
  readonly connections: number
  /** Resident memory of the server beyond its memory before, at its highest, in bytes. */
  readonly memory: number
  /** Of `/health`, in milliseconds, and of a bare server that was asked in the same moments. */
  readonly ours: number
  readonly bare: number
}

export interface AttackOptions {
  readonly target: Target
  /** Of the program that is attacked. */
  readonly pid: number | undefined
  readonly bareUrl: string
  /** Of connections, for the attacks that have most. */
  readonly largest: number
  readonly seconds: number
}

/** @throws AssertionError when `/health` was not answered once, or handles are left */
export async function runAttack(
  attack: Attack, { target, pid = 0, bareUrl, largest, seconds }: AttackOptions,
): Promise<AttackFigures> {
  const before = sizeOf(pid)
  const count = Math.max(2, Math.round(largest * attack.share))
  let memory = 0
  const watch = setInterval(() => (memory = Math.max(memory, sizeOf(pid).memory - before.memory)), 100)
  const end = await attack.begin(target, count)
  const probe = startProbe(target.server.url, bareUrl)
  try {
    await sleep(seconds * 1000)
  } finally {
    await probe.stop()
    await end()
    clearInterval(watch)
  }
  assert.equal(
    probe.ours.filter((ms) => ms === Number.POSITIVE_INFINITY), [], `${attack.what}: /health was not answered`,
  )
  await isBack(pid, before.handles)
  return {
    what: attack.what, connections: count, memory, ours: percentile(probe.ours, 0.99),
    bare: percentile(probe.bare, 0.99),
  }
}

/** Handles of the server go when it has seen that their peers have gone. */
async function isBack(pid: number, handles: number): Promise<void> {
  const latest = performance.now() + 30_000
  while (sizeOf(pid).handles > handles) {
    if (performance.now() > latest) {
      throw new Error(`The server has ${sizeOf(pid).handles} handles, and had ${handles} before`)
    }
    await sleep(50)
  }
}
