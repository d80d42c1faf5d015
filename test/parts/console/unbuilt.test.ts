/** A server without the built page: its console says how to build it, and its interface works. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { joinedFile } from '../../support/program-file.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/console: not built')

test('the console answers with a page that says how to build it', withPrograms(async (start, folder) => {
  const built = dirname(joinedFile)
  const copy = join(folder, 'copy', 'dist')
  mkdirSync(copy, { recursive: true })
  for (const name of readdirSync(built)) {
    if (/^agent-server.*\.js$/.test(name)) cpSync(join(built, name), join(copy, name))
  }
  cpSync(join(built, '..', 'package.json'), join(copy, '..', 'package.json'))
  const server = await start([], { withKey: true, program: join(copy, 'agent-server.js') })
  const page = await fetch(`${server.url}/console/`)
  assert.is(page.status, 503)
  assert.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(page.headers.get('content-security-policy') ?? '', "default-src 'none'")
  assert.match(await page.text(), 'npm run build')
  assert.is((await server.rest.get('/api/settings')).status, 200)
}))

test.run()
