/** `kill -9` while a conversation with a worktree is created: the next server finds the worktree and removes it. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { listAt, member } from '../support/rest.ts'
import { withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { makeRepository } from '../parts/git/repositories.ts'

const test = suite('e2e/worktree-kill', 120_000)

/** Until this exists, the killed server has gone no further than this. */
const moments: Readonly<Record<string, (folder: string) => boolean>> = {
  'the record is written': (folder) => filesOf(join(folder, 'data/worktrees')).length > 0,
  'the folder is there': (folder) => filesOf(join(folder, 'workspace/worktrees')).length > 0,
  'the checkout has begun': (folder) => treesOf(folder).some((tree) => filesOf(tree).length > 1),
  'the conversation is there': (folder) => filesOf(join(folder, 'data/conversations')).length > 0,
}

const filesOf = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
const treesOf = (folder: string): string[] => {
  const root = join(folder, 'workspace/worktrees')
  return filesOf(root).map((id) => join(root, id, 'project'))
}

for (const [moment, isReached] of Object.entries(moments)) {
  test(`leaves nothing, or a whole conversation: killed when ${moment}`, withPrograms(async (start, folder) => {
    const repository = makeRepository(join(folder, 'project'))
    for (let number = 0; number < 2000; number++) repository.write(`d${number % 20}/f${number}`, 'x'.repeat(5000))
    repository.git('add', '--all')
    repository.git('commit', '--quiet', '-m', 'many files')
    const first = await start()
    const body = { workspace: { working_dir: repository.root }, worktree: true }
    const created = first.rest.post('/api/conversations', body).catch(() => undefined)
    await until(() => isReached(folder))
    await first.stop('SIGKILL')
    await created
    const second = await start()
    const items = listAt((await second.rest.get('/api/conversations/search')).json, 'items')
    // A leftover is removed in the background.
    await until(() => filesOf(join(folder, 'data/worktrees')).length === items.length)
    assert.is(repository.git('worktree', 'list').trim().split('\n').length, items.length + 1)
    assert.is(repository.git('branch').trim().split('\n').length, items.length + 1)
    for (const item of items) {
      const dir = String(member(item, 'workspace', 'working_dir'))
      assert.is(makeRepository(dir).git('status', '--porcelain'), '')
      const id = String(member(item, 'id'))
      assert.is((await second.rest.delete(`/api/conversations/${id}`)).headers['x-kept-worktree'], undefined)
    }
    assert.equal(treesOf(folder), [])
    await second.stop('SIGTERM')
  }))
}

test.run()
