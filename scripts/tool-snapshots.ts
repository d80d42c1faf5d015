/**
 * Writes the snapshots of what models are told of the tools: `node dist/scripts/tool-snapshots.js`.
 *
 * Run it after a change that is meant, and look at the difference before it is committed.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { snapshotPath, snapshotsOf } from '../test/support/tool-snapshots.ts'

for (const [name, text] of await snapshotsOf()) {
  await mkdir(new URL('.', snapshotPath(name)), { recursive: true })
  await writeFile(snapshotPath(name), text)
}
