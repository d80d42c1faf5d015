/**
 * Writes the snapshots of the texts that models get, about the tools and from the built-in agent: `node
 * dist/scripts/tool-snapshots.js`.
 *
 * Run it after a change that is meant, and look at the difference before it is committed.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { promptSnapshots } from '../test/support/prompt-snapshots.ts'
import { snapshotPath, snapshotsOf } from '../test/support/tool-snapshots.ts'

for (const [name, text] of await snapshotsOf()) await write(snapshotPath(name), text)
for (const [name, text] of await promptSnapshots()) await write(snapshotPath(name, 'builtin'), text)

async function write(path: URL, text: string): Promise<void> {
  await mkdir(new URL('.', path), { recursive: true })
  await writeFile(path, text)
}
