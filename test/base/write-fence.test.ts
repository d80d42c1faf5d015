/** The fence of a folder that another server may own: each function of own-files that changes something refuses. */
import * as assert from 'uvu/assert'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as ownFiles from '../../src/base/own-files.ts'
import { AppError } from '../../src/base/errors.ts'
import { fenceFolder } from '../../src/base/write-fence.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/write-fence')
const root = mkdtempSync(join(tmpdir(), 'fence-'))
const [inside, outside] = [join(root, 'data'), join(root, 'other')]
test.after(() => rmSync(root, { recursive: true, force: true }))

/** The changes below a folder, by the name of the function that makes them. */
function changes(folder: string): Record<string, () => Promise<unknown>> {
  const [file, made] = [join(folder, 'file'), join(folder, 'new')]
  const source = join(outside, 'source')
  return {
    chmod: () => ownFiles.chmod(file, 0o600),
    link: () => ownFiles.link(source, made),
    rename: () => ownFiles.rename(source, made),
    rmdir: () => ownFiles.rmdir(join(folder, 'folder')),
    symlink: () => ownFiles.symlink(source, made),
    writeLoosely: () => ownFiles.writeLoosely(file, 'late'),
    writeNew: () => ownFiles.writeNew(made, 'late'),
    openNew: () => ownFiles.openNew(made),
    appendLoosely: () => ownFiles.appendLoosely(file, 'late'),
    removeFile: () => ownFiles.removeFile(file),
    removeTree: () => ownFiles.removeTree(join(folder, 'folder')),
    writeSynced: () => ownFiles.writeSynced(file, 'late'),
    writeFileAtomically: () => ownFiles.writeFileAtomically(file, 'late'),
    replaceLoosely: () => ownFiles.replaceLoosely(file, 'late'),
    createFile: () => ownFiles.createFile(made, 'late'),
    makeNewFolder: () => ownFiles.makeNewFolder(made),
    makeTemporaryFolder: () => ownFiles.makeTemporaryFolder(made),
    makeFolder: () => ownFiles.makeFolder(join(made, 'below')),
    removeTemporaryFiles: () => ownFiles.removeTemporaryFiles(folder),
  }
}

/** Functions that change nothing by path; a log file of the operator (`openToAppend`) may have several writers. */
const others = ['openToAppend', 'appendNow', 'syncFolder', 'isTemporaryFile', 'storageError', 'failsAsStorage']

test('every function of own-files is tried here, or is known to change nothing below the folder', () => {
  const functions = Object.entries(ownFiles).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
  assert.equal(functions.sort(), [...Object.keys(changes(inside)), ...others].sort())
})

test('a folder that another server may own is not changed, and its neighbour is', async () => {
  for (const folder of [inside, outside]) {
    mkdirSync(join(folder, 'folder'), { recursive: true })
    for (const name of ['file', 'source', '.file.0123456789ab.tmp']) writeFileSync(join(folder, name), 'first')
  }
  const seen = (): unknown => readdirSync(inside).sort().map((name) => {
    return [name, name === 'folder' ? 'folder' : readFileSync(join(inside, name), 'utf8')]
  })
  const before = seen()
  const unfence = fenceFolder(inside, () => false)
  try {
    for (const [name, change] of Object.entries(changes(inside))) {
      const thrown = await change().then(() => undefined, (error: unknown) => error)
      assert.ok(thrown instanceof AppError && thrown.code === 'owned_by_another', `${name}: ${String(thrown)}`)
    }
    assert.equal(seen(), before)
    await ownFiles.writeLoosely(join(outside, 'file'), 'second')
    assert.is(readFileSync(join(outside, 'file'), 'utf8'), 'second')
  } finally {
    unfence()
  }
  await ownFiles.writeLoosely(join(inside, 'file'), 'third')
  assert.is(readFileSync(join(inside, 'file'), 'utf8'), 'third')
})

test.run()
