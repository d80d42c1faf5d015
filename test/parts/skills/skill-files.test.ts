/** Skills in folders: the skills that are read, those that are left out, and that nothing outside is reached. */
import { mkdirSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  fileLimitBytes, folderLimit, readProjectSkills, readText, readUserSkills,
} from '../../../src/parts/skills/skill-files.ts'
import type { Skill } from '../../../src/parts/skills/skill.ts'
import { suite } from '../../support/suite.ts'
import { secretText, withFolders, type Folders } from '../../support/workspace.ts'

const test = suite('agents/skills/skill-files')

interface Found {
  readonly skills: readonly Skill[]
  readonly warnings: readonly string[]
}

type Files = Readonly<Record<string, string | Buffer>>

async function write(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

async function readFrom(folder: string, { privateDirs = [], read = readProjectSkills }: {
  readonly privateDirs?: readonly string[]
  readonly read?: typeof readProjectSkills
} = {}): Promise<Found> {
  const warnings: string[] = []
  const skills = await read({ folder, privateDirs, warn: (message) => void warnings.push(message) })
  return { skills, warnings }
}

/** A test with a workspace that holds some files. */
function given(name: string, files: Files, body: (folders: Folders) => Promise<void>): void {
  test(name, () => withFolders(async (folders) => {
    await write(folders.workspace, files)
    await body(folders)
  }))
}

const names = ({ skills }: Found): string[] => skills.map(({ name }) => name)

const agentSkill = '---\nname: pdf\ndescription: Reads PDF files.\n---\nUse a tool.'

given('AGENTS.md and the files of both folders are skills, each of its type', {
  'AGENTS.md': '---\nnot: front matter\n---\nRun the tests.\n',
  '.openhands/skills/style.md': 'Two spaces.',
  '.openhands/skills/git.md': '---\ntriggers:\n- git\n- commit\n---\nSmall commits.',
  '.agents/skills/pdf/SKILL.md': agentSkill,
  '.agents/skills/pdf/more.md': 'no skill',
  '.agents/skills/README.md': 'no skill',
  '.agents/skills/notes.txt': 'no skill',
  '.agents/skills/empty/none.md': 'no skill',
}, async ({ workspace }) => {
  const found = await readFrom(workspace)
  assert.equal(found.warnings, [])
  assert.equal(found.skills.map(({ name, type, triggers, content }) => [name, type, triggers, content]), [
    ['agents', 'repo', [], '---\nnot: front matter\n---\nRun the tests.'],
    ['pdf', 'agentskills', [], 'Use a tool.'],
    ['git', 'knowledge', ['git', 'commit'], 'Small commits.'],
    ['style', 'repo', [], 'Two spaces.'],
  ])
  assert.equal(found.skills.map(({ source }) => source?.slice(workspace.length)), [
    '/AGENTS.md', '/.agents/skills/pdf/SKILL.md', '/.openhands/skills/git.md', '/.openhands/skills/style.md',
  ])
})

given('a home directory gives its skills and no AGENTS.md', { 'AGENTS.md': 'no', '.agents/skills/a.md': 'A' }, async (
  { workspace },
) => {
  assert.equal(names(await readFrom(workspace, { read: readUserSkills })), ['a'])
})

given('in a sub-directory the files of the repository come first, those of the directory after them', {
  '.git/HEAD': '',
  'AGENTS.md': 'of the root',
  '.agents/skills/a.md': 'of the root',
  'packages/app/AGENTS.md': 'of the app',
  'packages/app/.openhands/skills/b.md': 'of the app',
  'packages/AGENTS.md': 'between',
}, async ({ workspace }) => {
  const found = await readFrom(join(workspace, 'packages/app'))
  assert.equal(found.skills.map(({ name, content }) => [name, content]), [
    ['agents', 'of the root'], ['a', 'of the root'], ['agents:packages/app', 'of the app'], ['b', 'of the app'],
  ])
})

given(
  'outside of a repository nothing above the folder is read',
  { 'AGENTS.md': 'above', 'inner/AGENTS.md': 'inner' },
  async ({ workspace }) => {
    assert.equal((await readFrom(join(workspace, 'inner'))).skills.map(({ content }) => content), ['inner'])
  },
)

given('a file that is broken, empty or too large is left out and told of, and the others are read', {
  'AGENTS.md': '  \n',
  '.agents/skills/a.md': '---\nname: a\n',
  '.agents/skills/b.md': '---\nname: b\n---\n',
  '.agents/skills/c.md': Buffer.from([0x66, 0xff]),
  '.agents/skills/d.md': 'x'.repeat(fileLimitBytes + 1),
  '.agents/skills/e/SKILL.md': 'No description.',
  '.agents/skills/f.md': '---\nname: "two\\nlines"\n---\nF',
  '.agents/skills/g.md': `---\ntriggers: [${'t,'.repeat(33)}]\n---\nG`,
  '.agents/skills/h.md': `---\ntriggers: ${'t'.repeat(101)}\n---\nH`,
  '.agents/skills/i.md/SKILL.md': 'A folder.',
  '.agents/skills/j/SKILL.md': '---\nname: j\ndescription: |\n---\nJ',
  '.agents/skills/z.md': 'fine',
}, async ({ workspace }) => {
  const found = await readFrom(workspace)
  assert.equal(names(found), ['z'])
  assert.equal(found.warnings.map((text) => /skills\/(\w)/.exec(text)?.[1]), [...'abcdefghij'])
})

given(
  'a folder that is none, or may not be read, is no failure',
  { '.agents': 'a file', '.openhands/skills': 'a file', 'AGENTS.md/x': '' },
  async ({ workspace }) => {
    const found = await readFrom(workspace)
    assert.equal(found.skills, [])
    assert.is(found.warnings.length, 2)
    assert.equal((await readFrom(join(workspace, 'missing'))).skills, [])
  },
)

given('no more than a hundred skills of a folder are read', {}, async ({ workspace }) => {
  await write(
    workspace,
    Object.fromEntries(
      Array.from({ length: folderLimit + 1 }, (_, index) => [`.agents/skills/${1000 + index}.md`, 'text']),
    ),
  )
  const found = await readFrom(workspace)
  assert.is(found.skills.length, folderLimit)
  assert.match(found.warnings.join(), 'expected at most 100 skills')
})

given('a folder with very many entries is read in part, and that is told', {}, async ({ workspace }) => {
  // Synchronous: a thousand turns of a busy thread pool take seconds.
  for (let index = 1000; index <= 2000; index++) {
    mkdirSync(join(workspace, `.agents/skills/${index}`), { recursive: true })
  }
  await write(workspace, { '.agents/skills/0.md': 'first', '.agents/skills/z.md': 'last' })
  const found = await readFrom(workspace)
  assert.equal(names(found), ['0'])
  assert.match(found.warnings.join(), 'Looked at the first 1000 entries')
})

given(
  'a link leads to files inside, and never outside',
  { 'shared/pdf/SKILL.md': agentSkill, 'shared/inside.md': 'inside' },
  async ({ workspace, outside }) => {
    const folder = join(workspace, '.agents/skills')
    await mkdir(folder, { recursive: true })
    await write(outside, { 'SKILL.md': `---\ndescription: a\n---\n${secretText}` })
    await symlink(join(outside, 'secret.txt'), join(workspace, 'AGENTS.md'))
    await symlink('../../shared/pdf', join(folder, 'pdf'))
    await symlink('../../shared/inside.md', join(folder, 'inside.md'))
    await symlink('../../../outside', join(folder, 'out'))
    await symlink('../../../outside/secret.txt', join(folder, 'secret.md'))
    await symlink(outside, join(workspace, '.openhands'))
    const found = await readFrom(workspace)
    assert.equal(names(found), ['inside', 'pdf'])
    assert.is(found.warnings.length, 4)
    assert.not.match(JSON.stringify(found), secretText)
  },
)

given('the data of the server is not read, by whichever way', { 'data/AGENTS.md': secretText }, async (
  { workspace },
) => {
  const privateDirs = [join(workspace, 'data')]
  assert.equal((await readFrom(join(workspace, 'data'), { privateDirs })).skills, [])
  await symlink('data/AGENTS.md', join(workspace, 'AGENTS.md'))
  assert.equal((await readFrom(workspace, { privateDirs })).skills, [])
})

given('one text is read if it is there', { 'notes.md': 'notes' }, async ({ workspace, outside }) => {
  const options = { folder: workspace, privateDirs: [], warn: () => undefined }
  assert.is(await readText('notes.md', options), 'notes')
  assert.is(await readText('none/notes.md', options), undefined)
  await symlink(join(outside, 'secret.txt'), join(workspace, 'link.md'))
  assert.is(await readText('link.md', options), undefined)
})

test.run()
