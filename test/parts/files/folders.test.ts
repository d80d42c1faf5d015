/** Folders to choose a workspace from: the home, pages of subdirectories, new folders. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, member } from '../../support/rest.ts'
import { withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files folders')

test('lists folders of the home without links and files, in the order of their names', () => withServer(async (
  { rest, folder },
) => {
  for (const name of ['b', 'A', 'c', '.hidden']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'file'), '')
  symlinkSync(join(folder, 'b'), join(folder, 'link'))
  const { status, json } = await rest.get('/api/file/home')
  const favorites = ['A', 'b', 'c', 'data'].map((label) => ({ label, path: join(folder, label) }))
  assert.equal([status, json], [200, { home: folder, favorites, locations: [{ label: '/', path: '/' }] }])
  const all = (await rest.get('/api/file/home?include_hidden=true')).json
  assert.is(member(all, 'favorites', 0, 'label'), '.hidden')
}))

test('lists at most 50 folders of a home', () => withServer(async ({ rest, folder }) => {
  for (let index = 0; index < 60; index++) mkdirSync(join(folder, `d${index}`))
  assert.is(listAt((await rest.get('/api/file/home')).json, 'favorites').length, 50)
}))

test('pages through subdirectories, each once', () => withServer(async ({ rest, folder }) => {
  const place = join(folder, 'p')
  mkdirSync(place)
  const names = ['a', 'A', 'B', 'c', 'd', 'D', '.x']
  for (const name of names) mkdirSync(join(place, name))
  const seen: unknown[] = []
  let query: string | undefined = ''
  while (query !== undefined) {
    const { status, json } = await rest.get(
      `/api/file/search_subdirs?path=${encodeURIComponent(place)}&limit=1&include_hidden=1${query}`,
    )
    assert.is(status, 200)
    seen.push(...listAt(json, 'items').map((item) => member(item, 'name')))
    const next = member(json, 'next_page_id')
    query = typeof next === 'string' ? `&page_id=${encodeURIComponent(next)}` : undefined
  }
  assert.equal([...seen].sort(), [...names].sort())
  const { json } = await rest.get(`/api/file/search_subdirs?path=${encodeURIComponent(place)}`)
  assert.equal(member(json, 'items', 2), { name: 'B', path: join(place, 'B') })
  assert.equal([listAt(json, 'items').length, member(json, 'next_page_id')], [6, null])
  assert.equal((await rest.get(`/api/file/search_subdirs?path=${encodeURIComponent(place)}&page_id=zz`)).json, {
    items: [], next_page_id: null,
  })
}))

test('a folder that the system does not let the server make is refused', () => withServer(async ({ rest }) => {
  // No user makes folders there, root neither.
  const path = existsSync('/dev/pts') ? '/dev/pts/a-folder' : '/dev/a-folder'
  const { status, json } = await rest.send('POST', `/api/file/create_directory?path=${path}`)
  assert.equal([status, json], [403, { detail: `Cannot use the path "${path}": permission denied` }])
}))

test('makes a folder with its parents, and again', () => withServer(async ({ rest, folder }) => {
  const make = (path: string) => rest.send('POST', `/api/file/create_directory?path=${encodeURIComponent(path)}`)
  for (let round = 0; round < 2; round++) {
    const { status, json } = await make(join(folder, 'x', 'y'))
    assert.equal([status, json], [200, { success: true }])
  }
  mkdirSync(join(folder, 'x', 'y', 'z'))
  writeFileSync(join(folder, 'f'), '')
  assert.is((await make('relative')).status, 400)
  assert.is((await make(join(folder, 'f'))).status, 400)
  assert.is((await make(join(folder, 'f', 'g'))).status, 400)
  assert.is((await make(join(folder, 'data', 'g'))).status, 403)
}))

test('refuses what is no folder', () => withServer(async ({ rest, folder, dataDir }) => {
  writeFileSync(join(folder, 'f'), '')
  for (const [path, status] of [
    ['x', 400], [join(folder, 'f'), 400], [join(folder, 'none'), 404], [dataDir, 403], ['/proc/self', 403],
  ] as const) {
    assert.is((await rest.get(`/api/file/search_subdirs?path=${encodeURIComponent(path)}`)).status, status, path)
  }
  assert.is((await rest.get('/api/file/search_subdirs?path=/&limit=101')).status, 422)
}))

test.run()
