/** Installations over REST, with a stand-in for npm. */
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../../support/rest.ts'
import { makeFakeNpm } from '../../support/fake-npm.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents install over REST')

async function withNpm(mode: string, body: (server: TestServer, state: () => Promise<string>) => Promise<void>) {
  const { folder, remove } = makeFolder()
  const environment = { PATH: makeFakeNpm(folder), HOME: folder, FAKE_NPM: mode }
  const server = await startServer({ environment })
  const state = async (): Promise<string> => {
    return textAt((await server.rest.get('/api/agents/installations')).json, 'items', 0, 'state')
  }
  try {
    await body(server, state)
  } finally {
    await server.close()
    remove()
  }
}

test('installs the version of the table, tells how far it is, and the agent is then described as there', async () => {
  await withNpm('script', async (server, state) => {
    const begun = await server.rest.post('/api/agents/codex/install')
    assert.equal([begun.status, member(begun.json, 'state')], [200, 'running'])
    await until(async () => await state() === 'done')
    const { json } = await server.rest.get('/api/doctor/agents')
    const codex = listAt(json, 'items').find((item) => member(item, 'name') === 'codex')
    assert.is(member(codex, 'state'), 'ready')
    assert.match(textAt(codex, 'text'), /^installed, version \d/)
  })
})

test('installations of two agents that begin at once both succeed', async () => {
  await withNpm('one-program', async (server) => {
    const names = ['codex', 'claude-code']
    await Promise.all(names.map((name) => server.rest.post(`/api/agents/${name}/install`)))
    const states = async (): Promise<unknown[]> => {
      const { json } = await server.rest.get('/api/agents/installations')
      return listAt(json, 'items').map((item) => member(item, 'state'))
    }
    await until(async () => !(await states()).includes('running'))
    assert.equal(await states(), ['done', 'done'])
  })
})

test('a failure is told in words, and an installation ends with the server', async () => {
  await withNpm('fails', async (server, state) => {
    await server.rest.post('/api/agents/codex/install')
    await until(async () => await state() === 'failed')
    assert.match((await server.rest.get('/api/agents/installations')).text, '404 Not Found')
    assert.is((await server.rest.post('/api/agents/none/install')).status, 404)
  })
})

test.run()
