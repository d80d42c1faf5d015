/** Kills a writing process at random points and checks the log that it leaves, for the short test and the long test. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { allEvents, allLines, below, openTestLog, seeded, withFolder } from './samples.ts'

const writer = fileURLToPath(new URL('../fixtures/storage-writer.js', import.meta.url))

/** Starts the writer again and again on one folder; each time it goes on from the log that it left. */
export async function killAgainAndAgain(rounds: number, seed: number): Promise<void> {
  const random = seeded(seed)
  await withFolder(async (directory) => {
    let before = 0
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await writeAndKill(directory, 1 + below(random, 300), 1 + below(random, 64))
      before = Math.max(acknowledged, before)
      before = await check(directory, before, `seed ${seed} round ${round}`)
    }
  })
}

/** Kills the writer when it has acknowledged so many times; how many events it had acknowledged by then. */
function writeAndKill(directory: string, acknowledgements: number, producers: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, directory, String(producers)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.split('\n').length > acknowledgements) child.kill('SIGKILL')
    })
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.on('error', reject)
    child.on('close', (_, signal) => {
      if (signal !== 'SIGKILL' || errors !== '') return reject(new Error(`the writer ended by itself: ${errors}`))
      // A number without its newline was not printed as a whole.
      resolve(Math.max(...output.split('\n').slice(0, -1).map(Number)))
    })
  })
}

async function check(directory: string, acknowledged: number, label: string): Promise<number> {
  const { log, damages } = await openTestLog(directory)
  assert.ok(log.eventCount >= acknowledged, `${label}: ${log.eventCount} events, expected ${acknowledged}`)
  const numbers = (await allEvents(log, 100_000)).map((json) => Number(/"number":(\d+)/.exec(json)?.[1]))
  assert.ok(numbers.length === log.eventCount && numbers.every((number, at) => number === at), `${label}: out of order`)
  const lines = await allLines(log)
  const records = lines.filter((line) => line.startsWith('["after",')).length
  assert.ok(records >= Math.floor((acknowledged + 4) / 5), `${label}: ${records} private records`)
  assert.equal(damages.filter(({ kind }) => kind === 'damaged'), [], label)
  await log.close()
  return log.eventCount
}
