/**
 * Backups of a server under load, and restores of them, killed (SIGKILL) at random moments.
 *
 * The seed of the moments is printed; BACKUP_KILL_SEED repeats a run with the same choices. BACKUP_KILL_ROUNDS sets the
 * number of backups and of restores that are killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { programFile } from '../../support/program-file.ts'
import { member, textAt } from '../../support/rest.ts'
import { runToEnd, withPrograms, type Program } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { restoreTo } from './commands.ts'

const rounds = Number(process.env['BACKUP_KILL_ROUNDS'] ?? 2)
const test = suite('parts/backup: kills', 60_000 + rounds * 20_000)
const seed = Number(process.env['BACKUP_KILL_SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`BACKUP_KILL_SEED=${seed}\n`)

const conversationCount = 5
const dry = { flags: { 'dry-run': 'true' } }

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomsOf(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the time after which a round is killed: at once in the first round, then at random. */
function delaysOf(start: number): (round: number, mostMs: number) => number {
  const random = randomsOf(start)
  return (round, mostMs) => (round === 0 ? 0 : random() * mostMs)
}

interface Load {
  /** The texts that were acknowledged, by conversation. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
  /** The greatest number of a settings change that was acknowledged. */
  readonly settings: () => number
  stop(): Promise<void>
}

/** Sends messages to several conversations, and changes the settings, until it is stopped. */
async function startLoad({ rest }: Program): Promise<Load> {
  const acknowledged = new Map<string, string[]>()
  let [isOver, changes] = [false, 100]
  for (let at = 0; at < conversationCount; at++) {
    acknowledged.set(textAt((await rest.post('/api/conversations', {})).json, 'id'), [])
  }
  const talk = async ([id, texts]: [string, string[]]): Promise<void> => {
    for (let number = 0; !isOver; number++) {
      const text = `message-${number}-of-${id}-${'x'.repeat((number * 37) % 3000)}.`
      const message = { role: 'user', content: [{ type: 'text', text }], run: false }
      const { status } = await rest.post(`/api/conversations/${id}/events`, message)
      assert.ok(status < 300, String(status))
      texts.push(text)
    }
  }
  const change = async (): Promise<void> => {
    while (!isOver) {
      const next = changes + 1
      const diff = { conversation_settings_diff: { max_iterations: next } }
      assert.is((await rest.patch('/api/settings', diff)).status, 200)
      changes = next
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
  const running = Promise.all([...[...acknowledged].map(talk), change()])
  running.catch(() => (isOver = true))
  return {
    acknowledged,
    settings: () => changes,
    async stop() {
      isOver = true
      await running
    },
  }
}

interface Killed {
  /** The exit code; undefined when it was killed. */
  readonly code: number | undefined
  /** The time from the beginning of its work to its end. */
  readonly ms: number
}

/** Runs the program, and kills it some time after `hasBegun` has become true. */
async function killedAfter(
  ms: number, args: readonly string[], { hasBegun, output }: { hasBegun: () => boolean; output?: number },
): Promise<Killed> {
  const child = spawn(process.execPath, [programFile, ...args], {
    stdio: ['ignore', output ?? 'ignore', 'ignore'], env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  })
  let begun: number | undefined
  let timer: NodeJS.Timeout | undefined
  const look = setInterval(() => {
    if (!hasBegun()) return
    begun = Date.now()
    clearInterval(look)
    timer = setTimeout(() => child.kill('SIGKILL'), ms)
  }, 1)
  const [code] = await once(child, 'exit')
  clearInterval(look)
  clearTimeout(timer)
  return { code: code ?? undefined, ms: begun === undefined ? 0 : Date.now() - begun }
}

/** Files that make the work longer. */
function addOutputs({ dataDir }: Program, { acknowledged }: Load, mark = 'first'): void {
  for (const id of acknowledged.keys()) {
    for (let at = 0; at < 20; at++) {
      const path = join(dataDir, 'conversations', id, 'observations', `output-${at}.txt`)
      rmSync(path, { force: true })
      writeFileSync(path, `${id} ${at} ${mark} ${'x'.repeat(20_000)}`, { mode: 0o600 })
    }
  }
}

test('a killed backup leaves the former one whole, and the last one has all that was acknowledged', withPrograms(
  async (start, folder) => {
    const delay = delaysOf(seed)
    const program = await start(['--audit', 'required'])
    const load = await startLoad(program)
    const backup = join(folder, 'backup')
    const backUp = ['backup', backup, '--data-dir', program.dataDir]
    addOutputs(program, load)
    const hasBegun = (): boolean => existsSync(join(backup, 'owner.json'))
    const { ms: wholeMs } = await killedAfter(60_000, backUp, { hasBegun })
    rmSync(backup, { recursive: true })
    let kills = 0
    for (let round = 0; round < rounds; round++) {
      rmSync(join(backup, 'owner.json'), { force: true })
      const { code } = await killedAfter(delay(round, wholeMs), backUp, { hasBegun })
      assert.ok(code === undefined || code === 0, String(code))
      if (code === undefined) kills++
      else addOutputs(program, load, `of round ${round}`)
      if (!existsSync(join(backup, 'manifest.jsonl'))) continue
      assert.is((await restoreTo(backup, join(folder, 'none'), dry)).code, 0)
    }
    assert.ok(kills > 0)
    const [before, settings] = [[...load.acknowledged].map(([id, texts]) => [id, [...texts]] as const), load.settings()]
    const ended = await runToEnd(backUp, folder)
    assert.is(ended.code, 0, ended.stderr)
    await load.stop()
    assert.equal(readdirSync(join(backup, 'partial')), [])
    assert.equal(readdirSync(backup).sort(), ['files', 'lock', 'manifest.jsonl', 'partial'])
    const place = join(folder, 'restored')
    const restored = await runToEnd(['restore', backup, '--to', place], folder)
    assert.is(restored.code, 0, restored.stderr)
    const verified = await runToEnd(['verify', '--data-dir', place], folder)
    assert.is(verified.code, 0, verified.stdout)
    for (const [id, texts] of before) {
      const log = readFileSync(join(place, 'conversations', id, 'events.jsonl'), 'utf8')
      assert.ok(texts.length > 0)
      for (const text of texts) assert.ok(log.includes(text), text.slice(0, 60))
    }
    // The trail has the record of each change that the settings have.
    const stored = JSON.parse(readFileSync(join(place, 'settings.json'), 'utf8'))
    const value = Number(member(stored, 'conversation_settings', 'max_iterations'))
    assert.ok(value >= settings, `${value} ${settings}`)
    const audit = join(place, 'audit')
    const trail = readdirSync(audit).map((name) => readFileSync(join(audit, name), 'utf8')).join('')
    assert.ok(trail.split('"operation":"PATCH /api/settings"').length - 1 >= value - 100)
    process.stdout.write(`${kills} of ${rounds} backups were killed\n`)
  },
))

test('a killed archive is refused, a killed restore is continued, and no server starts before its end', withPrograms(
  async (start, folder) => {
    const delay = delaysOf(seed + 1)
    const program = await start()
    const load = await startLoad(program)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await load.stop()
    addOutputs(program, load)
    const tar = join(folder, 'backup.tar')
    const archive = async (ms: number): Promise<Killed> => {
      const output = openSync(tar, 'w')
      const hasBegun = (): boolean => statSync(tar).size > 0
      try {
        return await killedAfter(ms, ['backup', '-', '--data-dir', program.dataDir], { hasBegun, output })
      } finally {
        closeSync(output)
      }
    }
    const { ms: wholeMs } = await archive(60_000)
    let refusals = 0
    for (let round = 0; round < rounds; round++) {
      const { code } = await archive(delay(round, wholeMs * 0.5))
      // A program that is killed after its last write leaves a whole archive.
      const said = await restoreTo(tar, join(folder, 'none'), dry).then(() => 'sound', (thrown: unknown) => {
        return thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : String(thrown)
      })
      if (said === 'sound') continue
      assert.is(code, undefined)
      assert.is(said, 'storage_failed: Cannot use the backup: it is cut off')
      refusals++
    }
    assert.ok(refusals > 0)
    assert.is((await archive(60_000)).code, 0)
    const backup = join(folder, 'backup')
    await runToEnd(['backup', backup, '--data-dir', program.dataDir], folder)
    for (const from of [backup, tar]) {
      const place = join(folder, 'restored')
      const hasBegun = (): boolean => existsSync(join(place, 'owner.json'))
      const restored = ['restore', from, '--to', place]
      const { ms: restoreMs } = await killedAfter(60_000, restored, { hasBegun })
      rmSync(place, { recursive: true })
      let kills = 0
      for (let round = 0; round < rounds; round++) {
        // A kill after the last rename leaves a whole folder, which another restore refuses.
        if (existsSync(join(place, 'format.json'))) rmSync(place, { recursive: true })
        rmSync(join(place, 'owner.json'), { force: true })
        const { code } = await killedAfter(delay(round, restoreMs * 0.7), restored, { hasBegun })
        assert.ok(code === undefined || code === 0, String(code))
        if (code === undefined) kills++
        if (!existsSync(join(place, 'restoring.json'))) continue
        assert.not.ok(existsSync(join(place, 'format.json')))
        if (round > 1) continue
        const refused = await runToEnd(['serve', '--port', '0', '--data-dir', place], folder)
        assert.is(refused.code, 5, refused.stderr)
      }
      assert.ok(kills > 0)
      if (!existsSync(join(place, 'format.json'))) {
        const ended = await runToEnd(restored, folder)
        assert.is(ended.code, 0, ended.stderr)
      }
      const verified = await runToEnd(['verify', '--data-dir', place], folder)
      assert.is(verified.code, 0, verified.stdout)
      for (const [id, texts] of load.acknowledged) {
        const log = readFileSync(join(place, 'conversations', id, 'events.jsonl'), 'utf8')
        for (const text of texts) assert.ok(log.includes(text), text.slice(0, 60))
      }
      process.stdout.write(`${kills} restores were killed\n`)
      rmSync(place, { recursive: true })
    }
  },
))

test.run()
