/**
 * The folder in which mutations are made: copies of a tree, tests that are run to their end, and nothing left of any of
 * it.
 */
import * as assert from 'uvu/assert'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNode } from '../../../scripts/mutate/command.ts'
import { Tree } from '../../../scripts/mutate/tree.ts'
import { Workshop } from '../../../scripts/mutate/workshop.ts'
import { isAlive, makeFolder, pidsIn, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/mutate/workshop')

/** A tree that needs no compiler: its build copies the files, unless the source is broken. */
const build = `
  import { cpSync, readFileSync } from 'node:fs'
  if (readFileSync('src/a.ts', 'utf8').includes('broken')) { console.log('src/a.ts: error'); process.exit(1) }
  cpSync('src/a.ts', 'dist/a.mjs')
`
const aTest = `
  import { one } from '../a.mjs'
  console.log(one === 1 ? 'Passed: 1' : 'first failure (assertion): one: is 1')
  process.exitCode = one === 1 ? 0 : 1
`

async function withTree(body: (tree: Tree, workshop: Workshop, root: string) => Promise<void>): Promise<void> {
  const { folder: root, remove } = makeFolder()
  for (const name of ['src', 'scripts', 'node_modules', 'dist/test', '.git']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  writeFileSync(join(root, 'tsconfig.json'), '{ "noUnusedLocals": true }')
  writeFileSync(join(root, 'src/a.ts'), 'export const one = 1\n')
  writeFileSync(join(root, 'scripts/build.mjs'), build)
  const workshop = new Workshop(root)
  try {
    const tree = new Tree(workshop, workshop.copySource('tree'))
    mkdirSync(join(tree.folder, 'dist/test'), { recursive: true })
    writeFileSync(join(tree.folder, 'dist/test/a.test.js'), aTest)
    writeFileSync(join(tree.folder, 'package.json'), '{ "type": "module" }')
    await body(tree, workshop, root)
  } finally {
    workshop.close()
    assert.not(existsSync(workshop.folder))
    remove()
  }
}

const edit = (text: string): Parameters<Tree['mutate']>[0] => ({
  file: 'src/a.ts', old: '1', new: text, promise: 'p', tests: [],
})

test('a tree is changed by one mutation at a time, in the copy alone', () => withTree(async (tree, _workshop, root) => {
  assert.not(existsSync(join(tree.folder, '.git')))
  assert.match(readFileSync(join(tree.folder, 'tsconfig.json'), 'utf8'), '"noUnusedLocals": false')
  assert.is(await tree.build(), undefined)
  assert.is((await tree.test('test/a.test.ts', 30_000)).outcome, 'passed')
  assert.is(tree.mutate(edit('2')), undefined)
  assert.is(await tree.build(), undefined)
  assert.is((await tree.test('test/a.test.ts', 30_000)).outcome, 'asserted')
  assert.is(tree.mutate(edit('broken')), undefined)
  assert.is(await tree.build(), 'src/a.ts: error')
  assert.match(tree.mutate({ ...edit('3'), old: 'two' }) ?? '', 'not in the file')
  assert.is(readFileSync(join(tree.folder, 'src/a.ts'), 'utf8'), 'export const one = 1\n')
  assert.is(readFileSync(join(root, 'src/a.ts'), 'utf8'), 'export const one = 1\n')
}))

test('a program that does not end in time is killed', () => withTree(async (tree) => {
  const { isLate, code } = await runNode(['-e', 'setInterval(() => 0, 1000)'], { folder: tree.folder, limitMs: 300 })
  assert.equal([isLate, code], [true, null])
}))

if (existsSync('/proc/self/environ')) {
  test('what a test has started and left is ended with its folder', () => withTree(async (tree, workshop) => {
    let pid = 0
    await workshop.withTemporary(async (folder) => {
      const leave = `const { spawn } = require('node:child_process')
        const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { detached: true, stdio: 'ignore' })
        require('node:fs').writeFileSync(process.env.TMPDIR + '/' + child.pid, '')
        child.unref()`
      await runNode(['-e', leave], { folder: tree.folder, env: { TMPDIR: folder }, limitMs: 30_000 })
      ;[pid = 0] = pidsIn(folder)
      assert.ok(isAlive(pid))
    })
    await until(() => !isAlive(pid))
  }))
}

test.run()
