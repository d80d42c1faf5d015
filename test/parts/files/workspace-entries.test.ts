/** The list of a workspace's folder: its order, its pages, and the places that it does not show. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files workspace entries')

interface World {
  readonly server: TestServer
  readonly root: string
  readonly list: (query: string) => ReturnType<TestServer['rest']['get']>
}

function withWorkspace(body: (world: World) => Promise<void>): () => Promise<void> {
  return () => withServer(async (server) => {
    const root = join(server.folder, 'site')
    mkdirSync(join(root, 'docs'), { recursive: true })
    const created = await server.rest.post('/api/conversations', { workspace: { working_dir: root } })
    const address = `/api/conversations/${textAt(created.json, 'id')}/workspace-entries`
    await body({ server, root, list: (query) => server.rest.get(address + query) })
  })
}

test('lists folders first, then names, with sizes', withWorkspace(async ({ root, list }) => {
  writeFileSync(join(root, 'b.txt'), 'four')
  writeFileSync(join(root, 'a & b.txt'), '')
  symlinkSync('b.txt', join(root, 'link'))
  const { status, json } = await list('')
  assert.is(status, 200)
  assert.equal(json, {
    items: [
      { name: '.git', kind: 'directory', size: 0 }, { name: 'docs', kind: 'directory', size: 0 },
      { name: 'a & b.txt', kind: 'file', size: 0 }, { name: 'b.txt', kind: 'file', size: 4 },
      { name: 'link', kind: 'other', size: 0 },
    ],
    next_page_id: null,
    is_complete: true,
  })
}))

test('gives each entry once, also when one is added meanwhile', withWorkspace(async ({ root, list }) => {
  for (let at = 0; at < 25; at++) writeFileSync(join(root, 'docs', `f${String(at).padStart(2, '0')}`), '')
  const names: string[] = []
  let page: unknown = ''
  do {
    const { json } = await list(`?path=docs&limit=10${page === '' ? '' : `&page_id=${encodeURIComponent(String(page))}`}`)
    const items = listAt(json, 'items')
    assert.ok(items.length <= 10)
    names.push(...items.map((item) => textAt(item, 'name')))
    page = member(json, 'next_page_id')
    writeFileSync(join(root, 'docs', 'a-new-one-before-all'), '')
  } while (page !== null)
  assert.equal(names, Array.from({ length: 25 }, (_, at) => `f${String(at).padStart(2, '0')}`))
}))

test('shows nothing outside of the workspace and nothing of the server', withWorkspace(async (world) => {
  const { server, root, list } = world
  writeFileSync(join(root, 'file'), '')
  symlinkSync(server.folder, join(root, 'up'))
  symlinkSync(server.dataDir, join(root, 'data'))
  const outside = ['..', '../site/..', '/etc', 'up', 'up/site', 'data', server.dataDir, 'docs/../..']
  for (const path of [...outside, 'file', '%00']) {
    const { status } = await list(`?path=${path === '%00' ? path : encodeURIComponent(path)}`)
    assert.is(status, 400, path)
  }
  assert.is((await list('?path=nowhere')).status, 404)
  assert.is((await list('?limit=501')).status, 422)
  assert.equal(listAt((await list('?path=docs/..')).json, 'items').length, 5)
}))

test.run()
