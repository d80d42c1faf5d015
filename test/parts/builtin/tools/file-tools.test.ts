import { link, mkdir, open, readFile, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { openTools, withFolders, type Called, type Folders, type ToolOptions } from '../../../support/workspace.ts'

const test = suite('agents/tools/file-tools')

interface Bench extends Folders {
  call(name: string, args: JsonObject): Promise<Called>
  put(name: string, content: string | Buffer): Promise<string>
  bytes(name: string): Promise<Buffer>
}

async function withTools(body: (bench: Bench) => Promise<void>, options: ToolOptions = {}): Promise<void> {
  await withFolders(async (folders) => {
    const tools = await openTools(folders, options)
    const path = (name: string): string => join(folders.workspace, name)
    await body({
      ...folders,
      call: (name, args) => tools.call(name, args),
      put: async (name, content) => {
        await writeFile(path(name), content)
        return path(name)
      },
      bytes: (name) => readFile(path(name)),
    })
  })
}

test('read_file gives a short file as it is', async () => {
  await withTools(async ({ call, put }) => {
    const path = await put('file', 'one\r\ntwo\n')
    const { text, observation } = await call('read_file', { file_path: 'file' })
    assert.is(text, 'one\ntwo')
    const { file_path, file_content, is_truncated, lines_shown, total_lines } = observation
    assert.equal([file_path, file_content, is_truncated, lines_shown, total_lines], [path, text, false, [1, 2], 2])
    await put('empty', '')
    const empty = await call('read_file', { file_path: 'empty' })
    assert.equal([empty.text, empty.observation['lines_shown'], empty.observation['total_lines']], ['', [1, 0], 0])
  })
})

test('read_file gives a part of a long file and says how to read on', async () => {
  await withTools(async ({ call, put }) => {
    const path = await put('file', Array.from({ length: 2500 }, (_, index) => `${index}\n`).join(''))
    const first = await call('read_file', { file_path: path })
    assert.ok(first.text.startsWith(`[${path}, lines 1 to 1000 of 2500; to read on: offset 1000]\n0\n1\n`))
    assert.equal([first.observation['is_truncated'], first.observation['lines_shown']], [true, [1, 1000]])
    const last = await call('read_file', { file_path: path, offset: 2000, limit: 5000 })
    assert.equal([last.observation['is_truncated'], last.observation['lines_shown']], [true, [2001, 2500]])
    const middle = await call('read_file', { file_path: path, offset: 5, limit: 2 })
    assert.is(middle.observation['file_content'], '5\n6')
    assert.match(
      (await call('read_file', { file_path: path, offset: 2500 })).text,
      /Cannot show lines from 2501 on: the file has 2500 lines/,
    )
    assert.ok((await call('read_file', { file_path: 'missing' })).isError)
  })
})

test('read_file cuts long lines and says so', async () => {
  await withTools(async ({ call, put }) => {
    const path = await put('file', 'x'.repeat(1000))
    const { text, observation } = await call('read_file', { file_path: path })
    assert.match(text, /cut because of their length/)
    assert.is(observation['file_content'], 'x'.repeat(100))
    assert.is(observation['is_truncated'], true)
  }, { limits: { textChars: 100 } })
})

test('read_file gives a part of a file that is too large to be edited, without counting its lines', async () => {
  await withTools(async ({ call, put }) => {
    const path = await put('file', 'line\n'.repeat(100_000))
    const { text, observation } = await call('read_file', { file_path: path, offset: 10, limit: 1 })
    assert.is(text, `[${path}, lines 11 to 11; to read on: offset 11]\nline`)
    assert.equal([observation['total_lines'], observation['is_truncated']], [undefined, true])
  }, { limits: { editBytes: 1000 } })
})

test('an edit that makes a text too long to be shown is shown in part', async () => {
  await withTools(async ({ call, put }) => {
    const file_path = await put('file', 'a')
    assert.match((await call('edit', { file_path, old_string: 'a', new_string: 'x'.repeat(200) })).text, /\n\[cut\]$/)
  }, { limits: { textChars: 100 } })
})

test('write_file makes a file and its directories, or replaces one, exactly as given', async () => {
  await withTools(async ({ call, put, bytes }) => {
    const made = await call('write_file', { file_path: 'a/b/file', content: 'grüße\r\n' })
    assert.equal([made.observation['is_new_file'], made.observation['old_content'], made.observation['new_content']], [
      true, undefined, 'grüße\r\n',
    ])
    assert.equal(await bytes('a/b/file'), Buffer.from('grüße\r\n'))
    const replaced = await call('write_file', { file_path: 'a/b/file', content: '' })
    assert.equal(
      [replaced.observation['is_new_file'], replaced.observation['old_content'], replaced.observation['new_content']],
      [false, 'grüße\n', ''],
    )
    await put('binary', Buffer.from([0, 1, 2]))
    const written = await call('write_file', { file_path: 'binary', content: 'text' })
    assert.is(written.observation['old_content'], undefined)
    assert.match((await call('write_file', { file_path: 'a', content: 'x' })).text, /it is a directory/)
    assert.match((await call('write_file', { file_path: 'half', content: '\ud800' })).text, /half of a character/)
  })
})

test('edit replaces an expected number of times', async () => {
  await withTools(async ({ call, put, bytes }) => {
    const file_path = await put('file', 'a b a\n')
    const edit = (args: JsonObject): Promise<Called> => call('edit', { file_path, ...args })
    assert.match((await edit({ old_string: 'a', new_string: 'x' })).text, /occurs 2 times, expected once/)
    assert.match(
      (await edit({ old_string: 'b', new_string: 'x', expected_replacements: 2 })).text,
      /occurs 1 times, expected 2 times/,
    )
    assert.match((await edit({ old_string: 'z', new_string: 'x', expected_replacements: 0 })).text, /not in the file/)
    const { observation, text } = await edit({ old_string: 'a', new_string: 'x', expected_replacements: 2 })
    assert.equal([observation['replacements_made'], observation['is_new_file']], [2, false])
    assert.equal([observation['old_content'], observation['new_content']], ['a b a\n', 'x b x\n'])
    assert.match(text, /2 replacements, the first:\n     1\tx b x$/)
    assert.is((await bytes('file')).toString(), 'x b x\n')
  })
})

test('edit with an empty old_string creates a file and never replaces one', async () => {
  await withTools(async ({ call, bytes }) => {
    const args = { file_path: 'new/file', old_string: '', new_string: 'text' }
    const { observation } = await call('edit', args)
    const { is_new_file, replacements_made, new_content } = observation
    assert.equal([is_new_file, replacements_made, new_content], [true, 1, 'text'])
    assert.is((await bytes('new/file')).toString(), 'text')
    assert.match((await call('edit', args)).text, /it exists already/)
  })
})

const encodings: readonly (readonly [name: string, before: Buffer, after: Buffer])[] = [
  ['LF', Buffer.from('one\ntwo\n'), Buffer.from('1\n1\ntwo\n')],
  ['CRLF', Buffer.from('one\r\ntwo\r\n'), Buffer.from('1\r\n1\r\ntwo\r\n')],
  ['mixed line ends', Buffer.from('one\r\ntwo\nthree\r\n'), Buffer.from('1\r\n1\r\ntwo\nthree\r\n')],
  ['no line end at the end', Buffer.from('one\ntwo'), Buffer.from('1\n1\ntwo')],
  ['a byte order mark', Buffer.from('\ufeffone\r\n'), Buffer.from('\ufeff1\r\n1\r\n')],
  ['Latin-1', Buffer.from('one grüße\n', 'latin1'), Buffer.from('1\n1 grüße\n', 'latin1')],
  ['invalid UTF-8', Buffer.from([0x6f, 0x6e, 0x65, 0xe2, 0x82, 0x0a]),
    Buffer.from([0x31, 0x0a, 0x31, 0xe2, 0x82, 0x0a])],
  ['UTF-16', Buffer.from('\ufeffone 🙂\r\n', 'utf16le'), Buffer.from('\ufeff1\r\n1 🙂\r\n', 'utf16le')],
  ['UTF-16 from the big end', Buffer.from('\ufeffone\n', 'utf16le').swap16(),
    Buffer.from('\ufeff1\n1\n', 'utf16le').swap16()],
]

for (const [name, before, after] of encodings) {
  test(`an edit changes what it means to change and no other byte: ${name}`, async () => {
    await withTools(async ({ call, put, bytes }) => {
      const path = await put('file', before)
      assert.not((await call('file_editor', { command: 'str_replace', path, old_str: 'one', new_str: '1\n1' })).isError)
      assert.equal(await bytes('file'), after)
      await call('file_editor', { command: 'undo_edit', path })
      assert.equal(await bytes('file'), before)
      assert.not((await call('edit', { file_path: path, old_string: 'one', new_string: '1\n1' })).isError)
      assert.equal(await bytes('file'), after)
    })
  })
}

test('what cannot be edited is refused and stays byte for byte', async () => {
  const table: readonly (readonly [string, Buffer, RegExp])[] = [
    ['NUL', Buffer.from('one\0'), /not a text file/],
    ['UTF-16 without a mark', Buffer.from('one', 'utf16le'), /not a text file/],
    ['half of UTF-16', Buffer.from([0xff, 0xfe, 0x6f, 0, 0x6e]), /not a text file/],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x6f, 0x6e, 0x65]), /not a text file/],
    ['Latin-1 that would need more', Buffer.from('one grüße', 'latin1'), /Cannot write "€"/],
  ]
  await withTools(async ({ call, put, bytes }) => {
    for (const [name, content, reason] of table) {
      const path = await put('file', content)
      const answers = [
        await call('file_editor', { command: 'str_replace', path, old_str: 'one', new_str: '€' }),
        await call('edit', { file_path: path, old_string: 'one', new_string: '€' }),
      ]
      for (const { text, isError } of answers) {
        assert.ok(isError, name)
        assert.match(text, reason, name)
      }
      assert.equal(await bytes('file'), content, name)
    }
  })
})

test('a file with a second name is refused by all that write', async () => {
  await withTools(async ({ call, outside, workspace }) => {
    await link(join(outside, 'secret.txt'), join(workspace, 'linked'))
    for (const [name, args] of [
      ['write_file', { file_path: 'linked', content: 'x' }],
      ['edit', { file_path: 'linked', old_string: 'what', new_string: 'x' }],
      ['file_editor', { command: 'insert', path: 'linked', insert_line: 0, new_str: 'x' }],
    ] as const) {
      assert.match((await call(name, args)).text, /hard link/, name)
    }
    assert.is(await readFile(join(outside, 'secret.txt'), 'utf8'), 'what nobody may see')
  })
})

test('a sparse gigabyte is not read, written or searched', async () => {
  await withTools(async ({ call, put }) => {
    const path = await put('large', '')
    const handle = await open(path, 'r+')
    await handle.truncate(1024 ** 3)
    await handle.close()
    assert.ok((await call('read_file', { file_path: path })).isError)
    assert.ok((await call('edit', { file_path: path, old_string: 'a', new_string: 'b' })).isError)
    const found = await call('grep', { pattern: 'a' })
    assert.equal([found.observation['matches'], found.observation['truncated']], [[], true])
    assert.match(found.text, /not everything was searched/)
  })
})

test('list_directory gives names, sizes and times, and two levels when asked', async () => {
  await withTools(async ({ call, put, workspace }) => {
    assert.is((await call('list_directory', {})).text, `${workspace} is empty`)
    await mkdir(join(workspace, 'sub', 'deep'), { recursive: true })
    await put('sub/deep/file', '')
    await utimes(await put('.hidden', '12345'), 1, 1)
    await symlink('nowhere', join(workspace, 'link'))
    const { observation, text } = await call('list_directory', { dir_path: workspace })
    const entries = Array.isArray(observation['entries']) ? observation['entries'] : []
    assert.equal(entries[0], {
      name: '.hidden', path: join(workspace, '.hidden'), is_directory: false, size: 5,
      modified_time: '1970-01-01T00:00:01.000Z',
    })
    assert.equal(entries.map(({ name, is_directory, size }) => [name, is_directory, size]), [
      ['.hidden', false, 5], ['link', false, 0], ['sub', true, 0],
    ])
    const { total_count, is_truncated, dir_path } = observation
    assert.equal([total_count, is_truncated, dir_path], [3, false, workspace])
    assert.match(text, /\.hidden  5 bytes  1970/)
    const deep = await call('list_directory', { recursive: true })
    assert.is(deep.observation['total_count'], 4)
    assert.match(deep.text, /sub\/deep\/$/)
    assert.match((await call('list_directory', { dir_path: '.hidden' })).text, /as a directory: it is not a directory/)
  })
})

test('list_directory is bounded', async () => {
  await withTools(async ({ call, put }) => {
    for (let index = 0; index < 501; index++) await put(`f${index}`, '')
    const { observation, text } = await call('list_directory', {})
    const entries = Array.isArray(observation['entries']) ? observation['entries'] : []
    assert.equal([entries.length, observation['total_count'], observation['is_truncated']], [500, 501, true])
    assert.match(text, /\n\[1 more\]$/)
  })
})

test('glob and grep say truncated where the contract does', async () => {
  await withTools(async ({ call, put, workspace }) => {
    for (let index = 0; index < 99; index++) await put(`f${index}`, 'x')
    assert.is((await call('glob', { pattern: '*' })).observation['truncated'], false)
    await put('f99', 'x')
    const glob = await call('glob', { pattern: '*' })
    assert.equal([glob.observation['truncated'], glob.observation['search_path']], [true, workspace])
    assert.is((await call('grep', { pattern: 'x' })).observation['truncated'], false)
    await put('f100', 'x')
    const grep = await call('grep', { pattern: 'x', include: 'f*', path: workspace })
    assert.equal([grep.observation['truncated'], grep.observation['include_pattern']], [true, 'f*'])
    assert.match(grep.text, /\[the 100 newest of 101\]$/)
    assert.match((await call('glob', { pattern: '*' })).text, /\[the 100 newest of 101\]$/)
  })
})

test('glob and grep answer what they did not find, and what they cannot do', async () => {
  await withTools(async ({ call, workspace }) => {
    assert.is((await call('glob', { pattern: '*.x' })).text, `No file in ${workspace} matches "*.x"`)
    assert.is((await call('grep', { pattern: 'x' })).text, `No file in ${workspace} holds a match`)
    assert.match((await call('glob', { pattern: '' })).text, /it has 0 characters/)
    assert.match((await call('grep', { pattern: '(', include: '*' })).text, /Invalid regular expression/)
    assert.ok((await call('glob', { pattern: '*', path: '/etc' })).isError)
  })
})

test('a walk that met its limit says that it did', async () => {
  await withTools(async ({ call, put }) => {
    for (const name of ['a', 'b', 'c']) await put(name, '')
    const { observation, text } = await call('glob', { pattern: '*' })
    assert.is(observation['truncated'], true)
    assert.match(text, /\[not everything was searched/)
  }, { limits: { walkEntries: 2 } })
})

test('the task list is kept, also by the next life of the conversation', async () => {
  await withTools(async ({ call, root, ...folders }) => {
    assert.is((await call('task_tracker', {})).text, 'The task list is empty.')
    const task_list = [{ title: 'one', status: 'done' }, { title: 'two', notes: 'with care' }]
    const { observation, text } = await call('task_tracker', { command: 'plan', task_list })
    assert.is(text, '1. [done] one\n2. [todo] two\n   with care')
    assert.equal(observation['task_list'], [
      { title: 'one', notes: '', status: 'done' }, { title: 'two', notes: 'with care', status: 'todo' },
    ])
    const again = await (await openTools({ root, ...folders })).call('task_tracker', { command: 'view' })
    assert.equal([again.text, again.observation['task_list'], again.observation['command']], [
      text, observation['task_list'], 'view',
    ])
    assert.equal(await readdir(join(root, 'observations')), ['tasks.json'])
    await writeFile(join(root, 'observations', 'tasks.json'), '{ broken')
    assert.is((await call('task_tracker', {})).text, 'The task list is empty.')
  })
})

test('a task list that cannot be kept is a failure', async () => {
  await withTools(async ({ call, root }) => {
    await mkdir(join(root, 'observations', 'tasks.json'), { recursive: true })
    const { isError, text } = await call('task_tracker', { command: 'plan', task_list: [{ title: 'x' }] })
    assert.ok(isError)
    assert.match(text, /Cannot write "tasks.json"/)
  })
})

test('think and finish answer with a text', async () => {
  await withTools(async ({ call }) => {
    const thought = await call('think', { thought: 'hm' })
    assert.equal([thought.text, thought.observation['kind']], ['The thought is noted.', 'ThinkObservation'])
    const end = await call('finish', { message: 'done' })
    assert.equal([end.text, end.observation['kind'], end.isError], ['done', 'FinishObservation', false])
  })
})

test.run()
