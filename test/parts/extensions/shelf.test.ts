/** Replacements of installed extensions that fail while the server runs. */
import {
  mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemCodeOf } from '../../../src/base/errors.ts'
import { Shelf } from '../../../src/parts/extensions/shelf.ts'
import type { ExtensionRecord } from '../../../src/parts/extensions/generated.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/extensions shelf')

const recordOf = (version: string): ExtensionRecord => ({
  name: 'same', version, description: 'About it.', enabled: true, source: '/source', resolved_ref: null,
  repo_path: null, installed_at: '2026-01-01T00:00:00.000000Z', ref: null,
})

function contentIn(parent: string, version: string): string {
  const folder = join(parent, `content-${version}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'SKILL.md'), version)
  return folder
}

/** The other file system of a Linux machine, from which no folder can be renamed into the folder for tests. */
const otherDisk = '/dev/shm'
const deviceOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.dev
const hasOtherDisk = ![undefined, deviceOf(tmpdir())].includes(deviceOf(otherDisk))

async function failsToReplace(): Promise<void> {
  const { folder, remove } = makeFolder()
  const other = mkdtempSync(join(otherDisk, 'agent-server-test-'))
  try {
    const shelf = new Shelf(folder, 'skills', { warn: () => undefined })
    await shelf.put(recordOf('1'), contentIn(folder, '1'), { replaces: false })
    rmSync(join(folder, 'work'), { recursive: true })
    symlinkSync(other, join(folder, 'work'))
    const put = shelf.put(recordOf('2'), contentIn(other, '2'), { replaces: true })
    assert.is(await put.then(() => 'replaced', systemCodeOf), 'EXDEV')
    const { record, folder: files } = await shelf.get('same')
    assert.is(record.version, '1')
    assert.is(readFileSync(join(files, 'SKILL.md'), 'utf8'), '1')
    assert.equal(readdirSync(join(folder, 'skills')), ['same'])
    assert.equal(readdirSync(other), [])
  } finally {
    rmSync(other, { recursive: true, force: true })
    remove()
  }
}

const title = 'an extension is put back at once when its replacement cannot be moved to its place'
if (hasOtherDisk) test(title, failsToReplace)
else test.skip(title, `${otherDisk} is no other file system than that of ${tmpdir()}`)

test.run()
