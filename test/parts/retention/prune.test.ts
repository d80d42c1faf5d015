/** `agent-server prune`: a dry run, a real one, a folder in use, and bad words. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import { fakeAgent, runToEnd, withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/retention: the command')

test('a dry run lists and removes nothing; the command removes what it listed', withPrograms(async (start, folder) => {
  const server = await start()
  const made: string[] = []
  for (let number = 0; number < 4; number++) {
    const tags = number === 0 ? { keep: '' } : {}
    const { json } = await server.rest.post('/api/conversations', { agent: fakeAgent('answer'), tags })
    made.push(textAt(json, 'id'))
  }
  const [kept = '', first = '', second = '', newest = ''] = made
  const prune = (...words: string[]) => runToEnd(['prune', '--data-dir', server.dataDir, ...words], folder)
  const inUse = await prune('--retain-count', '1')
  assert.is(inUse.code, 4, inUse.stderr)
  assert.match(inUse.stderr, /another server owns it, .*; stop it first, or give another --data-dir, or only list with /)
  assert.match(inUse.stderr, '--dry-run')
  const open = await prune('--retain-count', '1', '--dry-run')
  assert.is(open.code, 0, open.stderr)
  await server.stop('SIGTERM')
  const dry = await prune('--retain-count', '1', '--dry-run')
  assert.match(dry.stdout, new RegExp(`would go +${first}.*\n.*would go +${second}`))
  assert.not.match(dry.stdout, kept)
  assert.not.match(dry.stdout, newest)
  assert.match(dry.stderr, /2 conversations with \d+ bytes would be removed, 0 stay nevertheless/)
  const idsIn = (): string[] => readdirSync(join(server.dataDir, 'conversations')).sort()
  assert.equal(idsIn(), [...made].sort())
  const done = await prune('--retain-count', '1', '--json')
  assert.is(done.code, 0, done.stderr)
  assert.equal(listAt(JSON.parse(done.stdout)).map((one) => textAt(one, 'id')), [first, second])
  assert.equal(idsIn(), [kept, newest].sort())
  const again = await start()
  assert.is((await again.rest.get('/api/conversations/count')).json, 2)
  assert.is((await runToEnd(['verify', '--data-dir', server.dataDir], folder)).code, 0)
}))

test('bad words are refused', withPrograms(async (_, folder) => {
  const dataDir = join(folder, 'none')
  const prune = (...words: string[]) => runToEnd(['prune', '--data-dir', dataDir, ...words], folder)
  const refused: readonly (readonly [words: readonly string[], code: number, message: string])[] = [
    [[], 2, 'without a limit'],
    [['--retain-days', '0'], 2, 'without a limit'],
    [['--retain-days', '-1'], 2, 'expected an integer'],
    [['--retain-days', '1.5'], 2, 'expected an integer'],
    [['--retain-count', 'many'], 2, 'expected an integer'],
    [['everything', '--retain-days', '1'], 2, 'takes options only'],
    [['--retain-days', '1'], 1, 'There is no data folder'],
  ]
  for (const [words, code, message] of refused) {
    const end = await prune(...words)
    assert.is(end.code, code, end.stderr)
    assert.match(end.stderr, message)
  }
  assert.match((await prune('--help')).stdout, '--dry-run')
}))

test.run()
