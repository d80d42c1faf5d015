/** An edit against somebody else's edit: text that was written since the file was read stays. */
import * as assert from 'uvu/assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { editFile, type EditorScope } from '../../../../src/parts/builtin/tools/file-change.ts'
import { createFileScope } from '../../../../src/parts/builtin/tools/file-scope.ts'
import { replaceOccurrences } from '../../../../src/parts/builtin/tools/text-edit.ts'
import { createUndoHistory } from '../../../../src/parts/builtin/tools/undo-history.ts'
import { AppError } from '../../../../src/base/errors.ts'
import { testCipher } from '../../../support/cipher.ts'
import { suite } from '../../../support/suite.ts'
import { withFolders } from '../../../support/workspace.ts'

const test = suite('agents/tools/file-change')

test(
  'an edit of a file that was changed since it was read is refused, and the change stays',
  () => withFolders(async ({ root, workspace }) => {
    const path = join(workspace, 'file')
    writeFileSync(path, 'one two')
    const history = createUndoHistory(join(root, 'undo'), { limitEntries: 10, limitBytes: 1000 }, testCipher())
    const scope: EditorScope = { ...createFileScope({ workingDir: workspace, privateDirs: [] }), history }
    const edit = (meanwhile: () => void): Promise<unknown> => scope.workspace.at('file', (place) => editFile(
      place,
      scope,
      (file) => {
        meanwhile()
        return replaceOccurrences(file, { from: 'one', to: '1', expected: 1 })
      },
    ))
    const refusal = await edit(() => writeFileSync(path, 'one two, and more')).catch((error: unknown) => error)
    assert.is(refusal instanceof AppError && refusal.code, 'conflict')
    assert.is(readFileSync(path, 'utf8'), 'one two, and more')
    await edit(() => undefined)
    assert.is(readFileSync(path, 'utf8'), '1 two, and more')
  }),
)

test.run()
