/**
 * A program exchanges a directory of the workspace for a link to the outside, over and over, while the tools work below
 * it. Some calls fail; none reads or writes outside.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import { openBelow, openTools, secretText, withFolders, type Folders } from '../../../support/workspace.ts'

const test = suite('agents/tools/races')
const rounds = 40

/** Ends by itself when its standard input does. */
const swapper = `
  const { renameSync, rmSync, symlinkSync } = require('node:fs')
  process.stdin.resume().on('end', () => process.exit())
  const [place, outside] = process.argv.slice(1)
  process.stdout.write('ready')
  const swap = () => {
    for (let count = 0; count < 50; count++) {
      try { renameSync(place, place + '-away') } catch {}
      // A tool may have made a directory of this name meanwhile.
      rmSync(place, { recursive: true, force: true })
      try { symlinkSync(outside, place) } catch {}
      rmSync(place, { recursive: true, force: true })
      try { renameSync(place + '-away', place) } catch {}
    }
    setImmediate(swap)
  }
  swap()
`

async function whileSwapping(place: string, outside: string, body: () => Promise<void>): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, ['-e', swapper, place, outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  try {
    await body()
  } finally {
    child.stdin?.end()
    await ended
  }
}

async function untouched({ outside }: Folders): Promise<void> {
  assert.equal(await readdir(outside), ['secret.txt'])
  assert.is(await readFile(join(outside, 'secret.txt'), 'utf8'), secretText)
}

test('a directory that is exchanged for a link all the time leads no tool out', async () => {
  if (process.platform !== 'linux') return
  await withFolders(async (folders) => {
    const tools = await openTools(folders)
    const place = join(folders.workspace, 'place')
    await mkdir(place)
    await writeFile(join(place, 'secret.txt'), 'inside')
    let worked = 0
    await whileSwapping(place, folders.outside, async () => {
      for (let round = 0; round < rounds; round++) {
        const answers = await Promise.all([
          tools.call('read_file', { file_path: 'place/secret.txt' }),
          tools.call('list_directory', { dir_path: 'place' }),
          tools.call('write_file', { file_path: 'place/secret.txt', content: 'inside' }),
          tools.call('write_file', { file_path: `place/new-${round}.txt`, content: 'inside' }),
          tools.call('edit', { file_path: 'place/secret.txt', old_string: 'nobody', new_string: 'attack' }),
          tools.call('file_editor', { command: 'insert', path: 'place/secret.txt', insert_line: 0, new_str: '' }),
        ])
        for (const { text, observation } of answers) assert.not.match(JSON.stringify([text, observation]), secretText)
        worked += answers.filter(({ isError }) => !isError).length
      }
    })
    await untouched(folders)
    assert.ok(worked > 0, 'every call failed, so nothing was tried')
    assert.equal(await openBelow(folders.root), [])
  })
})

test('a file that is exchanged for a link all the time leads no tool out', async () => {
  if (process.platform !== 'linux') return
  await withFolders(async (folders) => {
    const tools = await openTools(folders)
    const place = join(folders.workspace, 'secret.txt')
    await writeFile(place, 'inside')
    let worked = 0
    await whileSwapping(place, join(folders.outside, 'secret.txt'), async () => {
      for (let round = 0; round < rounds; round++) {
        const answers = await Promise.all([
          tools.call('read_file', { file_path: 'secret.txt' }),
          tools.call('grep', { pattern: 'nobody' }),
          tools.call('edit', { file_path: 'secret.txt', old_string: 'nobody', new_string: 'attack' }),
          tools.call('file_editor', { command: 'view', path: place }),
        ])
        for (const { text, observation } of answers) assert.not.match(JSON.stringify([text, observation]), secretText)
        worked += answers.filter(({ isError }) => !isError).length
      }
    })
    await untouched(folders)
    assert.ok(worked > 0, 'every call failed, so nothing was tried')
  })
})

test.run()
