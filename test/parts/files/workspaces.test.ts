/** The list of workspaces: one entry of each path, over a restart, and an unreadable list stays as it is. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { inServer, withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeFolder } from '../../support/processes.ts'

const test = suite('parts/files workspaces')
const empty = { workspaces: [], workspaceParents: [] }
const one = { id: '/p/a', name: 'a', path: '/p/a', parentPath: '/p' }
const two = { id: '2', name: 'b', path: '/b' }
const parent = { id: '3', name: 'p', path: '/p' }

test('keeps one entry of each path, over a restart', async () => {
  const { folder, remove } = makeFolder()
  try {
    await inServer(folder, async ({ rest }) => {
      assert.equal((await rest.get('/api/workspaces')).json, empty)
      const added = await rest.post('/api/workspaces', {
        workspaces: [one, { ...two, parentPath: null }, { ...one, name: 'again' }],
      })
      assert.equal([added.status, added.json], [200, { workspaces: [one, two], workspaceParents: [] }])
      assert.equal((await rest.post('/api/workspaces', { workspaces: [{ ...two, name: 'again' }] })).json, added.json)
      await rest.post('/api/workspaces/parents', { parents: [parent, parent] })
    })
    await inServer(folder, async ({ rest }) => {
      assert.equal((await rest.get('/api/workspaces')).json, { workspaces: [one, two], workspaceParents: [parent] })
      for (const [path, status] of [['/p/a', 200], ['/p/a', 404], ['/b', 200]] as const) {
        assert.is((await rest.delete(`/api/workspaces?path=${encodeURIComponent(path)}`)).status, status, path)
      }
      const removed = await rest.delete('/api/workspaces/parents?path=/p')
      assert.equal([removed.status, removed.json], [200, { deleted: true }])
      assert.is((await rest.delete('/api/workspaces/parents?path=/p')).status, 404)
      assert.equal((await rest.get('/api/workspaces')).json, empty)
    })
  } finally {
    remove()
  }
})

test('makes changes that come at once one after the other', () => withServer(async ({ rest }) => {
  const entries = Array.from({ length: 20 }, (_, index) => ({ ...two, path: `/w${index}` }))
  await Promise.all(entries.map((entry) => rest.post('/api/workspaces', { workspaces: [entry] })))
  const { json } = await rest.get('/api/workspaces')
  assert.is(JSON.stringify(json).split('/w').length - 1, 20)
}))

test('answers 409 for a list that cannot be read, and leaves it', () => withServer(async ({ rest, dataDir }) => {
  const path = join(dataDir, 'workspaces.json')
  for (const content of ['{', '[]', '{"workspaces":[{"id":1}],"workspaceParents":[]}']) {
    writeFileSync(path, content)
    assert.is((await rest.get('/api/workspaces')).status, 409)
    assert.is((await rest.post('/api/workspaces', { workspaces: [one] })).status, 409)
    assert.is(readFileSync(path, 'utf8'), content)
  }
}))

test('refuses entries of a wrong form, and too many', () => withServer(async ({ rest }) => {
  for (const workspaces of [undefined, {}, [{}], [{ ...one, path: '' }], [{ ...one, name: 'x'.repeat(257) }]]) {
    assert.is((await rest.post('/api/workspaces', { workspaces })).status, 422)
  }
  const many = Array.from({ length: 1001 }, (_, index) => ({ ...two, path: `/${index}` }))
  assert.is((await rest.post('/api/workspaces', { workspaces: many })).status, 422)
}))

test.run()
