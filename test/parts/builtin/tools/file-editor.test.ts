import { mkdir, open, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { openTools, withFolders, type Called, type Folders, type ToolOptions } from '../../../support/workspace.ts'

const test = suite('agents/tools/file-editor')

interface Editor extends Folders {
  edit(args: JsonObject): Promise<Called>
  plan(args: JsonObject): Promise<Called>
  put(name: string, content: string | Buffer): Promise<string>
  /** Returns the contents of a file of the workspace. */
  has(name: string): Promise<string>
}

async function withEditor(body: (editor: Editor) => Promise<void>, options: ToolOptions = {}): Promise<void> {
  await withFolders(async (folders) => {
    const tools = await openTools(folders, options)
    const path = (name: string): string => join(folders.workspace, name)
    await body({
      ...folders,
      edit: (args) => tools.call('file_editor', args),
      plan: (args) => tools.call('planning_file_editor', args),
      put: async (name, content) => {
        await writeFile(path(name), content)
        return path(name)
      },
      has: (name) => readFile(path(name), 'utf8'),
    })
  })
}

test('a file is shown with the numbers of its lines', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'one\ntwo\n\nfour')
    const { text, observation } = await edit({ command: 'view', path })
    assert.is(text, `${path}, lines 1 to 4 of 4:\n     1\tone\n     2\ttwo\n     3\t\n     4\tfour`)
    assert.equal([observation['command'], observation['path'], observation['prev_exist']], ['view', path, true])
    assert.is(observation['old_content'], undefined)
    assert.is(
      (await edit({ command: 'view', path, view_range: [2, 2] })).text, `${path}, lines 2 to 2 of 4:\n     2\ttwo`,
    )
    assert.is(
      (await edit({ command: 'view', path, view_range: [3, -1] })).text,
      `${path}, lines 3 to 4 of 4:\n     3\t\n     4\tfour`,
    )
    assert.is(
      (await edit({ command: 'view', path, view_range: [4, 99] })).text, `${path}, lines 4 to 4 of 4:\n     4\tfour`,
    )
    assert.is(
      (await edit({ command: 'view', path: await put('empty', '') })).text,
      `${path.replace(/file$/, 'empty')} is empty`,
    )
  })
})

test('a range that is none is refused', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'one\ntwo\n')
    for (const view_range of [[0, 1], [2, 1], [1, -2], [1], [1, 2, 3], []]) {
      const { text, isError } = await edit({ command: 'view', path, view_range })
      assert.ok(isError)
      assert.match(text, /Cannot use the view_range \[/)
    }
    assert.match(
      (await edit({ command: 'view', path, view_range: [3, -1] })).text,
      /Cannot show lines from 3 on: the file has 2 lines/,
    )
    assert.match(
      (await edit({ command: 'view', path: '.', view_range: [1, 2] })).text, /Cannot use view_range with a directory/,
    )
  })
})

test('a long file is cut, and a view says how to see more', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'x'.repeat(40).concat('\n').repeat(10))
    const { text } = await edit({ command: 'view', path })
    assert.match(text, /lines 1 to 3 of 10:/)
    assert.match(text, /\[cut after 100 characters: view a range of lines to see more\]$/)
  }, { limits: { textChars: 100 } })
})

test('a directory is shown with two levels and without what is hidden', async () => {
  await withEditor(async ({ edit, workspace }) => {
    await mkdir(join(workspace, 'a', 'b', 'c'), { recursive: true })
    for (const name of ['a/x', 'a/b/y', '.hidden', 'z']) await writeFile(join(workspace, name), '')
    await symlink('z', join(workspace, 'link'))
    const { text } = await edit({ command: 'view', path: workspace })
    assert.is(text, `${workspace}, two levels, without hidden entries:\na/\na/b/\na/x\nlink\nz`)
  })
})

test('a directory with very many entries is cut', async () => {
  await withEditor(async ({ edit, put }) => {
    for (let index = 0; index < 510; index++) await put(`f${index}`, '')
    assert.match((await edit({ command: 'view', path: '.' })).text, /\n\[10 more\]$/)
  })
})

test('a file is created with its directories, and never over another', async () => {
  await withEditor(async ({ edit, has, workspace }) => {
    const made = await edit({ command: 'create', path: 'a/b/file', file_text: 'text\r\n' })
    const { isError, observation } = made
    assert.equal([isError, observation['prev_exist'], observation['old_content']], [false, false, undefined])
    assert.is(made.observation['new_content'], 'text\r\n')
    assert.is(await has('a/b/file'), 'text\r\n')
    const again = await edit({ command: 'create', path: 'a/b/file', file_text: 'other' })
    assert.match(again.text, /it exists already/)
    assert.ok((await edit({ command: 'create', path: 'a/b', file_text: 'other' })).isError)
    assert.match((await edit({ command: 'create', path: 'c' })).text, /Cannot create without the parameter file_text/)
    assert.equal(await readdir(workspace), ['a'])
  })
})

test('a text that occurs once is replaced, and the lines around it are shown', async () => {
  await withEditor(async ({ edit, put, has }) => {
    const content = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')
    const path = await put('file', content)
    const { text, observation } = await edit({
      command: 'str_replace', path, old_str: 'line 10\nline 11', new_str: 'ten',
    })
    assert.is(text, [`Edited ${path}`, ...[6, 7, 8, 9].map((line) => `     ${line}\tline ${line}`), '    10\tten',
      ...[11, 12, 13, 14].map((line) => `    ${line}\tline ${line + 1}`)].join('\n'))
    assert.is(observation['old_content'], content)
    assert.is(observation['new_content'], content.replace('line 10\nline 11', 'ten'))
    assert.is(await has('file'), observation['new_content'])
    await edit({ command: 'str_replace', path, old_str: 'ten\n' })
    assert.is(await has('file'), content.replace('line 10\nline 11\n', ''))
  })
})

test('a text that cannot be replaced is refused with the reason, and the file stays', async () => {
  await withEditor(async ({ edit, put, has }) => {
    const content = 'same\nother\nsame\n'
    const path = await put('file', content)
    const table: readonly (readonly [JsonObject, RegExp])[] = [
      [{ old_str: 'missing', new_str: 'x' }, /the old text is not in the file/],
      [{ old_str: 'same', new_str: 'x' }, /occurs 2 times, expected once \(in lines 1, 3\)/],
      [{ old_str: 'same', new_str: 'same' }, /the old and the new text are the same/],
      [{ old_str: '', new_str: 'x' }, /the old text is empty/],
      [{ new_str: 'x' }, /without the parameter old_str/],
    ]
    for (const [args, reason] of table) {
      const { text, isError } = await edit({ command: 'str_replace', path, ...args })
      assert.ok(isError)
      assert.match(text, reason)
    }
    assert.match((await edit({ command: 'str_replace', path: 'missing', old_str: 'a' })).text, /Cannot find/)
    assert.match((await edit({ command: 'str_replace', path: '.', old_str: 'a' })).text, /it is a directory/)
    assert.is(await has('file'), content)
  })
})

test('many occurrences are named up to a number', async () => {
  await withEditor(async ({ edit, put }) => {
    const { text } = await edit({
      command: 'str_replace', path: await put('file', 'x\n'.repeat(30)), old_str: 'x', new_str: 'y',
    })
    assert.match(text, /occurs 30 times, expected once \(in lines 1, 2, .* 20, \.\.\.\)/)
  })
})

test('lines are inserted behind a line', async () => {
  await withEditor(async ({ edit, put, has }) => {
    const table: readonly (readonly [content: string, line: number, lines: string, expected: string])[] = [
      ['a\nb\n', 0, 'x', 'x\na\nb\n'],
      ['a\nb\n', 1, 'x\ny', 'a\nx\ny\nb\n'],
      ['a\nb\n', 2, 'x\n', 'a\nb\nx\n'],
      ['a\nb', 2, 'x', 'a\nb\nx'],
      ['a\nb', 1, 'x', 'a\nx\nb'],
      ['', 0, 'x', 'x\n'],
      ['a\r\nb\r\n', 1, 'x\ny', 'a\r\nx\r\ny\r\nb\r\n'],
    ]
    for (const [content, insert_line, new_str, expected] of table) {
      const path = await put('file', content)
      assert.not((await edit({ command: 'insert', path, insert_line, new_str })).isError)
      assert.is(await has('file'), expected, JSON.stringify(content))
    }
    const path = await put('file', 'a\nb\n')
    assert.match(
      (await edit({ command: 'insert', path, insert_line: 3, new_str: 'x' })).text, /insert_line is from 0 to 2/,
    )
    assert.match((await edit({ command: 'insert', path, insert_line: 1 })).text, /without the parameter new_str/)
    assert.match((await edit({ command: 'insert', path, new_str: 'x' })).text, /without the parameter insert_line/)
  })
})

test('an edit is undone, one after the other, also by the next life of the conversation', async () => {
  await withEditor(async ({ edit, has, workspace, ...folders }) => {
    const path = join(workspace, 'file')
    await edit({ command: 'create', path, file_text: 'one\n' })
    await edit({ command: 'str_replace', path, old_str: 'one', new_str: 'two' })
    await edit({ command: 'insert', path, insert_line: 1, new_str: 'three' })
    const again = await openTools({ workspace, ...folders })
    const undo = (): Promise<Called> => again.call('file_editor', { command: 'undo_edit', path })
    const first = await undo()
    assert.equal([first.observation['old_content'], first.observation['new_content']], ['two\nthree\n', 'two\n'])
    assert.is(await has('file'), 'two\n')
    await undo()
    assert.is(await has('file'), 'one\n')
    assert.match((await undo()).text, /did not exist before and is removed/)
    assert.equal(await readdir(workspace), [])
    assert.ok((await undo()).isError)
    assert.equal(await readdir(join(folders.root, 'observations', 'undo')), ['index.json'])
    assert.is((await stat(join(folders.root, 'observations', 'undo'))).mode & 0o777, 0o700)
  })
})

test('an undo is refused when something else has changed the file, and when there is nothing to undo', async () => {
  await withEditor(async ({ edit, put, has }) => {
    const path = await put('file', 'one')
    assert.match((await edit({ command: 'undo_edit', path })).text, /no edit of .* is known/)
    await edit({ command: 'str_replace', path, old_str: 'one', new_str: 'two' })
    await put('file', 'mine, longer')
    assert.match((await edit({ command: 'undo_edit', path })).text, /changed by something else/)
    // An edit on top can be undone, the edit below it still cannot.
    await edit({ command: 'str_replace', path, old_str: 'mine', new_str: 'yours' })
    assert.not((await edit({ command: 'undo_edit', path })).isError)
    assert.match((await edit({ command: 'undo_edit', path })).text, /changed by something else/)
    assert.is(await has('file'), 'mine, longer')
  })
})

test('an edit that cannot be remembered is made, and says so', async () => {
  await withEditor(async ({ edit, has, put, root }) => {
    await mkdir(join(root, 'observations'))
    await mkdir(join(root, 'observations', 'undo'))
    await mkdir(join(root, 'observations', 'undo', 'index.json'))
    const { text, isError } = await edit({
      command: 'str_replace', path: await put('file', 'one'), old_str: 'one', new_str: 'two',
    })
    assert.not(isError)
    assert.match(text, /cannot be undone/)
    assert.is(await has('file'), 'two')
  })
})

test('edits that are asked for at once are made one after the other', async () => {
  await withEditor(async ({ edit, put, has }) => {
    const path = await put('file', '')
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    await Promise.all(lines.map((new_str) => edit({ command: 'insert', path, insert_line: 0, new_str })))
    assert.equal((await has('file')).trimEnd().split('\n').sort(), [...lines].sort())
  })
})

test('contents that are too long for clients are left out', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'x'.repeat(11))
    const { observation } = await edit({
      command: 'str_replace', path, old_str: 'x'.repeat(5) + 'x'.repeat(6), new_str: 'y',
    })
    assert.equal([observation['old_content'], observation['new_content']], [undefined, 'y'])
  }, { limits: { contentChars: 10 } })
})

test('a file above the limit is not edited, and is shown by range', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'line\n'.repeat(300_000))
    assert.match(
      (await edit({ command: 'str_replace', path, old_str: 'a', new_str: 'b' })).text,
      /1500000 bytes, expected at most 1000/,
    )
    assert.is(
      (await edit({ command: 'view', path, view_range: [2, 3] })).text,
      `${path}, lines 2 to 3:\n     2\tline\n     3\tline`,
    )
    assert.match(
      (await edit({ command: 'view', path, view_range: [299_999, -1] })).text, /lines 299999 to 300000 of 300000:/,
    )
    assert.match(
      (await edit({ command: 'view', path, view_range: [300_001, -1] })).text, /Cannot show lines from 300001 on/,
    )
  }, { limits: { editBytes: 1000 } })
})

test('what is no text is refused, and a sparse gigabyte costs nothing', async () => {
  await withEditor(async ({ edit, put }) => {
    const path = await put('file', 'a\0b')
    assert.match((await edit({ command: 'view', path })).text, /it is not a text file/)
    assert.match((await edit({ command: 'insert', path, insert_line: 0, new_str: 'x' })).text, /it is not a text file/)
    const handle = await open(path, 'r+')
    await handle.truncate(1024 ** 3)
    await handle.close()
    assert.match((await edit({ command: 'view', path })).text, /it is not a text file/)
    assert.match((await edit({ command: 'insert', path, insert_line: 0, new_str: 'x' })).text, /1073741824 bytes/)
  })
})

test('the planner shows every file and changes only the plan', async () => {
  await withEditor(async ({ plan, put, has, workspace }) => {
    const path = join(workspace, '.agents_tmp', 'PLAN.md')
    const other = await put('other', 'text')
    assert.match((await plan({ command: 'view', path: other })).text, /text/)
    for (const command of ['create', 'str_replace', 'insert', 'undo_edit']) {
      const { text, isError, observation } = await plan({
        command, path: other, file_text: 'x', old_str: 'text', insert_line: 0, new_str: 'x',
      })
      assert.ok(isError)
      assert.is(observation['kind'], 'PlanningFileEditorObservation')
      assert.match(text, /only the plan/)
    }
    assert.ok((await plan({ command: 'create', path: 'new/file', file_text: 'x' })).isError)
    assert.equal(await readdir(workspace), ['other'])
    assert.not((await plan({ command: 'create', path, file_text: '# Plan' })).isError)
    assert.not(
      (await plan({
        command: 'str_replace', path: '.agents_tmp/./PLAN.md', old_str: 'Plan', new_str: 'Steps',
      })).isError,
    )
    assert.is(await has('.agents_tmp/PLAN.md'), '# Steps')
    assert.is(await has('other'), 'text')
  })
})

test('a link in the place of the plan does not make another file the plan', async () => {
  await withEditor(async ({ plan, put, has, workspace }) => {
    await put('PLAN.md', 'mine')
    await symlink('.', join(workspace, '.agents_tmp'))
    assert.ok(
      (await plan({ command: 'str_replace', path: '.agents_tmp/PLAN.md', old_str: 'mine', new_str: 'yours' })).isError,
    )
    assert.is(await has('PLAN.md'), 'mine')
  })
})

test('an action that was stopped before its turn changes nothing', async () => {
  await withFolders(async (folders) => {
    const tools = await openTools(folders)
    const stopped = AbortSignal.abort(new Error('stopped'))
    const work = tools.call('file_editor', { command: 'create', path: 'file', file_text: 'x' }, stopped)
    assert.is(await work.then(() => '', (thrown: Error) => thrown.message), 'stopped')
    assert.equal(await readdir(folders.workspace), [])
  })
})

test.run()
