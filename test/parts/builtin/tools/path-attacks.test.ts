/**
 * Every path that should lead out of the workspace, given to every tool that takes one: none reads, lists, makes or
 * changes anything outside, none waits, and each says that it was refused or finds nothing.
 */
import { execFileSync } from 'node:child_process'
import { link, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import {
  openBelow, openTools, secretText, withFolders, type Called, type Folders, type Tools,
} from '../../../support/workspace.ts'

const test = suite('agents/tools/path-attacks')

/** Each begins something at a path. The answer must hold nothing from outside. */
const uses: Readonly<Record<string, (tools: Tools, path: string) => Promise<Called>>> = {
  view: (tools, path) => tools.call('file_editor', { command: 'view', path }),
  create: (tools, path) => tools.call('file_editor', { command: 'create', path, file_text: 'attack' }),
  replace: (tools, path) =>
    tools.call('file_editor', { command: 'str_replace', path, old_str: 'nobody', new_str: 'attack' }),
  insert: (tools, path) => tools.call('file_editor', { command: 'insert', path, insert_line: 0, new_str: 'attack' }),
  undo: (tools, path) => tools.call('file_editor', { command: 'undo_edit', path }),
  plan: (tools, path) => tools.call('planning_file_editor', { command: 'create', path, file_text: 'attack' }),
  'view of the planner': (tools, path) => tools.call('planning_file_editor', { command: 'view', path }),
  read: (tools, path) => tools.call('read_file', { file_path: path }),
  write: (tools, path) => tools.call('write_file', { file_path: path, content: 'attack' }),
  edit: (tools, path) => tools.call('edit', { file_path: path, old_string: 'nobody', new_string: 'attack' }),
  'edit that creates': (tools, path) => tools.call('edit', { file_path: path, old_string: '', new_string: 'attack' }),
  list: (tools, path) => tools.call('list_directory', { dir_path: path, recursive: true }),
  glob: (tools, path) => tools.call('glob', { path, pattern: '**/*' }),
  grep: (tools, path) => tools.call('grep', { path, pattern: 'nobody' }),
}

function attacks({ root, workspace, outside }: Folders): string[] {
  const up = relative(workspace, outside)
  const far = '../../../agents/'.repeat(30)
  return [
    outside, `${outside}/`, join(outside, 'secret.txt'), up, `${up}/secret.txt`, `${up}/new.txt`, `./${up}/secret.txt`,
    `sub/../${up}/secret.txt`, `sub/../../outside/secret.txt`, `${workspace}/../outside/secret.txt`,
    `${workspace}/sub/../../outside/new/deep.txt`, `/${root.slice(1)}/./workspace/.././outside/secret.txt`,
    `//${outside}/secret.txt`, `${root}//outside///secret.txt`, `${workspace}-evil/secret.txt`,
    `${workspace}/./../outside`,
    'out', 'out/', 'out/.', 'out/secret.txt', 'out/../secret.txt', 'out/../outside/secret.txt', 'out/new.txt',
    'out/a/b/new.txt',
    'out-file', './out-file', 'sub/out-file', 'sub/out/secret.txt', 'chain', 'chain/secret.txt',
    'sub/../chain/secret.txt',
    'out-of-root', `out-of-root${outside}/secret.txt`, 'dangling', 'loop', 'loop/secret.txt', 'up',
    'up/outside/secret.txt', 'self/../up/outside/secret.txt',
    'absolute-dots', 'hard-link.txt', 'sub/hard-link.txt', 'proc/self/root', `proc/self/root${outside}/secret.txt`,
    'proc/self/cwd', 'descriptors',
    'pipe', 'null', 'zero', '/proc/self/root', `/proc/self/root${outside}/secret.txt`, '/proc/self/cwd/package.json',
    '/proc/self/environ',
    '/proc/self/fd/0', '/proc/1/root/etc/passwd', '/dev/fd/0', '/dev/fd/0/', '/dev/stdin', '/dev/zero', '/dev/tty',
    '/dev/null', '/',
    '/etc/passwd', '/tmp', '/tmp/..', '~', '~/.ssh/id_rsa', '$HOME/secret.txt', '%2e%2e/outside/secret.txt',
    '..%2foutside%2fsecret.txt',
    '..\\outside\\secret.txt', `${workspace}\\..\\outside\\secret.txt`, '．．/outside/secret.txt',
    '..／outside／secret.txt', '‥/outside/secret.txt',
    '.\u200b./outside/secret.txt', '..\u0000/outside/secret.txt', `${outside}/secret.txt\u0000.txt`,
    'sub\u0000/../../outside/secret.txt',
    'file://' + outside + '/secret.txt', `${workspace.toUpperCase()}/../outside/secret.txt`, 'OUT/secret.txt', '...',
    '.../outside', '....//outside/secret.txt',
    `${far}etc/passwd`, `${far}${outside.slice(1)}/secret.txt`, `sub/${far}etc/passwd`,
    `${'sub/../'.repeat(100)}../outside/secret.txt`,
    `${'./'.repeat(1000)}../outside/secret.txt`, `${'a/'.repeat(300)}x`, 'x'.repeat(5000), `${up}/${'y'.repeat(300)}`,
    '', ' ', '.. /outside/secret.txt', ' ../outside/secret.txt',
    '..', '../../../agents/', '../../../agents', '../../..', '.../..', 'sub/../..', 'data', 'data/keys/key',
    'data-link/keys/key', 'data/../data/keys', 'data/new.txt', 'hidden-data/keys/key',
  ]
}

/** All the ways out that an agent with a shell could lay into its workspace. */
async function layTraps({ workspace, outside, root }: Folders): Promise<void> {
  const inside = (...parts: string[]): string => join(workspace, ...parts)
  await mkdir(inside('sub'))
  await mkdir(inside('data', 'keys'), { recursive: true })
  await mkdir(`${workspace}-evil`)
  await Promise.all(
    [inside('data', 'keys', 'key'), join(`${workspace}-evil`, 'secret.txt')].map((path) => writeFile(path, secretText)),
  )
  const links: readonly (readonly [string, string])[] = [
    ['out', outside], ['out-file', join(outside, 'secret.txt')], ['sub/out', '../../outside'],
    ['sub/out-file', '../../outside/secret.txt'],
    ['middle', 'sub/out'], ['chain', 'middle'], ['out-of-root', '/'], ['dangling', join(outside, 'made.txt')],
    ['loop', 'loop'], ['up', '..'],
    ['self', '.'], ['absolute-dots', `${workspace}/../outside/secret.txt`], ['proc', '/proc'],
    ['descriptors', '/dev/fd'],
    ['null', '/dev/null'], ['zero', '/dev/zero'], ['data-link', 'data'],
    ['hidden-data', join(root, 'workspace', 'data')],
  ]
  for (const [name, target] of links) await symlink(target, inside(name))
  await link(join(outside, 'secret.txt'), inside('hard-link.txt'))
  await link(join(outside, 'secret.txt'), inside('sub', 'hard-link.txt'))
  execFileSync('mkfifo', [inside('pipe')])
}

/** Reading a hard link is reading a file of the workspace: nothing tells which name is the first. */
function mayShowSecret(path: string, use: string): boolean {
  return path.endsWith('hard-link.txt') && ['view', 'view of the planner', 'read', 'list', 'glob', 'grep'].includes(use)
}

async function contentsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return Promise.all(names.sort().map(async (name) => {
    const path = join(folder, name)
    return (await stat(path)).isFile() ? `${name}: ${await readFile(path, 'utf8')}` : name
  }))
}

for (const use of Object.keys(uses)) {
  test(`no path leads the tool out of the workspace: ${use}`, async () => {
    await withFolders(async (folders) => {
      await layTraps(folders)
      const data = join(folders.workspace, 'data')
      const before = await Promise.all([folders.outside, data, `${folders.workspace}-evil`].map(contentsOf))
      const tools = await openTools(folders, { privateDirs: [data] })
      const paths = attacks(folders)
      assert.ok(paths.length > 100, `${paths.length} paths`)
      for (const path of paths) {
        const answer = await uses[use]?.(tools, path)
        const shown = JSON.stringify(answer?.observation)
        if (!mayShowSecret(path, use)) assert.not.match(shown, secretText, `${use} ${path}`)
        assert.not.match(shown, /root:x:0|BEGIN .*KEY/, `${use} ${path}`)
      }
      assert.equal(await Promise.all([folders.outside, data, `${folders.workspace}-evil`].map(contentsOf)), before)
      const beside = (await readdir(folders.root)).filter((name) => name !== 'observations')
      assert.equal(beside.sort(), ['outside', 'workspace', 'workspace-evil'])
      assert.equal(await openBelow(folders.root), [])
    })
  })
}

test('searches from the workspace itself find nothing behind its links', async () => {
  await withFolders(async (folders) => {
    await layTraps(folders)
    const tools = await openTools(folders, { privateDirs: [join(folders.workspace, 'data')] })
    const found = await Promise.all([
      tools.call('glob', { pattern: '**/*' }),
      tools.call('grep', { pattern: 'nobody', include: '**/*.txt' }),
      tools.call('list_directory', { recursive: true }),
      tools.call('file_editor', { command: 'view', path: folders.workspace }),
    ])
    for (const { text } of found) assert.not.match(text, /secret\.txt|keys\/key/)
    assert.match(found[1]?.text ?? '', /hard-link\.txt/)
  })
})

test('a working directory that was renamed, and the one above it, give no way out', async () => {
  await withFolders(async (folders) => {
    const tools = await openTools(folders)
    await mkdir(join(folders.workspace, 'sub'))
    await rename(folders.workspace, join(folders.root, 'renamed'))
    await symlink(folders.outside, folders.workspace)
    for (const path of ['secret.txt', join(folders.workspace, 'secret.txt'), 'sub/../secret.txt']) {
      const { text, isError } = await tools.call('read_file', { file_path: path })
      assert.ok(isError, path)
      assert.not.match(text, secretText)
      assert.ok((await tools.call('write_file', { file_path: path, content: 'attack' })).isError)
    }
    assert.equal(await readdir(folders.outside), ['secret.txt'])
    assert.is(await readFile(join(folders.outside, 'secret.txt'), 'utf8'), secretText)
  })
})

test.run()
