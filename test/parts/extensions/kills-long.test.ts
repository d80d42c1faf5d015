/**
 * A server that is killed (SIGKILL) while it installs from a folder, an archive or a repository: older installations
 * are whole, nothing of the new one counts, and the next start removes the files of the killed server.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../../support/processes.ts'
import { member, textAt } from '../../support/rest.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeRepository } from '../git/repositories.ts'
import { zipOf } from './archives.ts'

const test = suite('parts/extensions kills', 120_000)

/** So many that the server is still at work when the first of them is there. */
const fileCount = 1200
const text = (version: string): string => `---\nname: big\ndescription: Version ${version}.\n---\nText.`
const manyFiles = Array.from({ length: fileCount }, (_, place) => ({ name: `f${place}.txt`, content: `${place}` }))

/** Writes the second version of the skill below a folder, and returns its source. */
const sources: Readonly<Record<string, (folder: string) => string>> = {
  'a folder': (folder) => {
    const source = join(folder, 'second')
    mkdirSync(source)
    for (const { name, content } of manyFiles) writeFileSync(join(source, name), content)
    writeFileSync(join(source, 'SKILL.md'), text('2'))
    return source
  },
  'a zip archive': (folder) => {
    const source = join(folder, 'second.zip')
    writeFileSync(source, zipOf([...manyFiles, { name: 'SKILL.md', content: text('2') }]))
    return source
  },
  'a git repository': (folder) => {
    const repository = makeRepository(join(folder, 'second.git'))
    for (const { name, content } of manyFiles) repository.write(name, content)
    repository.write('SKILL.md', text('2'))
    repository.git('add', '-A')
    repository.git('commit', '-q', '-m', 'two')
    return repository.root
  },
}

for (const [kind, make] of Object.entries(sources)) {
  test(`a kill while the server installs from ${kind}`, withPrograms(async (start, folder) => {
    const first = join(folder, 'first')
    mkdirSync(first)
    writeFileSync(join(first, 'SKILL.md'), text('1'))
    const source = make(folder)
    const program = await start()
    assert.is((await program.rest.post('/api/skills/install', { source: first })).status, 200)
    const work = join(program.dataDir, 'extensions', 'work')
    const installing = program.rest.post('/api/skills/install', { source, force: true }).catch(() => undefined)
    await until(() => filesIn(work) > 1)
    assert.is(await program.stop('SIGKILL'), 'SIGKILL')
    assert.is(await installing, undefined)
    const left = readdirSync(work)
    assert.is.not(left.length, 0)
    // A file that this server did not make stays.
    writeFileSync(join(work, 'note.txt'), 'of somebody else')
    const again = await start()
    assert.equal(readdirSync(work), ['note.txt'])
    const { json } = await again.rest.get('/api/skills/installed/big')
    assert.is(textAt(json, 'description'), 'Version 1.')
    const place = textAt(json, 'install_path')
    assert.equal(readdirSync(place), ['SKILL.md'])
    assert.is(readFileSync(join(place, 'SKILL.md'), 'utf8'), text('1'))
    assert.equal(readdirSync(join(again.dataDir, 'extensions', 'skills')), ['big'])
    const next = await again.rest.post('/api/skills/install', { source, force: true })
    assert.equal([next.status, member(next.json, 'description')], [200, 'Version 2.'])
    assert.is(readdirSync(place).length, fileCount + 1)
    assert.is(await again.stop('SIGTERM'), 0)
  }))
}

/** The number of files and folders below a folder that changes. */
function filesIn(folder: string): number {
  try {
    return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0
  } catch {
    return 0
  }
}

test.run()
