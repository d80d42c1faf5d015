/**
 * Files that git would run are written only with the user's consent: by every tool that writes, under every name of
 * such a place.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createToolSet } from '../../../../src/parts/builtin/tools/registry.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { testCipher } from '../../../support/cipher.ts'
import { suite } from '../../../support/suite.ts'
import { allFileTools, withFolders } from '../../../support/workspace.ts'

const test = suite('agents/tools/repository-writes')

interface Bench {
  readonly folder: string
  /** Whether the tool would ask, and whether it failed without and with the user's yes. */
  write(
    name: string, args: JsonObject,
  ): Promise<{ readonly asks: boolean; readonly failed: boolean; readonly failedWithYes: boolean }>
}

async function withTools(body: (bench: Bench) => Promise<void>): Promise<void> {
  await withFolders(async ({ root, workspace: folder }) => {
    const signal = new AbortController().signal
    const settings = {
      tools: allFileTools.map((name) => ({ name, params: {} })), include_default_tools: [], filter_tools_regex: null,
    }
    const observationsDir = join(root, 'observations')
    const { tools } = await createToolSet({
      cipher: testCipher(), mask: (text) => text, workingDir: folder, observationsDir, privateDirs: [], settings,
      signal,
    })
    mkdirSync(join(folder, '.git', 'hooks'), { recursive: true })
    writeFileSync(join(folder, '.git', 'config'), 'old\n')
    mkdirSync(join(folder, 'bare', 'objects'), { recursive: true })
    mkdirSync(join(folder, 'bare', 'refs'))
    writeFileSync(join(folder, 'bare', 'HEAD'), 'ref: refs/heads/main\n')
    mkdirSync(join(folder, 'sub'))
    symlinkSync('../.git', join(folder, 'sub', 'link'))
    symlinkSync('.git/config', join(folder, 'innocent'))
    await body({ folder, write: async (name, args) => {
      const tool = tools.find((candidate) => candidate.name === name)
      const read = tool?.read(args)
      if (tool === undefined || read?.ok !== true) throw new Error(`Cannot call ${name}`)
      const asks = (await tool.asks?.(read.action)) === true
      const refused = await tool.run(read.action, { id: '1', signal })
      const allowed = await tool.run(read.action, { id: '2', signal, isApproved: true })
      return { asks, failed: refused.is_error, failedWithYes: allowed.is_error }
    } })
  })
}

const guarded = [
  '.git/config', '.git/hooks/pre-commit', '.git/hooks/new/deep', './sub/../.git/config', 'sub/link/config', 'innocent',
  'sub/link/hooks/x', 'sub/.git', 'sub/.git/config', 'new/.git/hooks/post-checkout', '.GIT/config', '.Git/hooks/x',
  '.git./config', '.git /x', 'git~1/config', '.g\u200cit/config', 'bare/config', 'bare/hooks/post-update', 'bare/HEAD',
  'bare/objects/info/alternates',
]
for (const path of guarded) {
  test(`writes ${JSON.stringify(path)} with the user's yes only`, () => withTools(async ({ folder, write }) => {
    const before = readdirSync(folder, { recursive: true }).length
    const result = await write('write_file', { file_path: path, content: 'new\n' })
    assert.equal(result, { asks: true, failed: true, failedWithYes: false })
    assert.ok(readdirSync(folder, { recursive: true }).length >= before)
  }))
}

for (const path of [
  '.gitignore', '.github/workflows/a.yml', 'git/config', 'sub/x.git', 'objects/a', 'refs/a', 'HEAD', 'sub/config',
  '.gitmodules', 'digit/.gitkeep',
]) {
  test(`writes ${JSON.stringify(path)} without a question`, () => withTools(async ({ folder, write }) => {
    assert.equal(await write('write_file', { file_path: path, content: 'new\n' }), {
      asks: false, failed: false, failedWithYes: false,
    })
    assert.is(readFileSync(join(folder, path), 'utf8'), 'new\n')
  }))
}

test('holds for each tool that writes, and leaves reading alone', () => withTools(async ({ write }) => {
  const expected = { asks: true, failed: true, failedWithYes: false }
  assert.equal(await write('edit', { file_path: '.git/config', old_string: 'old', new_string: 'new' }), expected)
  assert.equal(await write('edit', { file_path: '.git/hooks/a', old_string: '', new_string: 'new' }), expected)
  assert.equal(await write('file_editor', { command: 'create', path: '.git/hooks/b', file_text: 'x' }), expected)
  assert.equal(
    await write('file_editor', { command: 'str_replace', path: '.git/config', old_str: 'new', new_str: 'newer' }),
    expected,
  )
  assert.equal(
    await write('file_editor', { command: 'insert', path: '.git/config', insert_line: 0, new_str: 'x' }), expected,
  )
  assert.equal(await write('file_editor', { command: 'undo_edit', path: '.git/config' }), expected)
  for (const [name, args] of [
    ['read_file', { file_path: '.git/config' }], ['file_editor', { command: 'view', path: '.git/config' }],
  ] as const) {
    assert.equal(await write(name, args), { asks: false, failed: false, failedWithYes: false })
  }
}))

test('a repository cannot be put together file by file', () => withTools(async ({ folder, write }) => {
  for (const path of ['made/config', 'made/HEAD']) {
    assert.equal((await write('write_file', { file_path: path, content: 'x' })).asks, false, path)
  }
  const deep = await write('write_file', { file_path: 'made/objects/x/y', content: 'x' })
  assert.equal(deep, { asks: true, failed: true, failedWithYes: false })
  assert.ok(existsSync(join(folder, 'made', 'objects', 'x', 'y')))
}))

test.run()
