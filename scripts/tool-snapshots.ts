/**
 * `npm run snapshots`: writes the snapshots of the texts that models get: of the tools and of the built-in agent's
 * prompt. `npm test -- tools/registry` compares the texts with the snapshots.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { promptSnapshots } from '../test/support/prompt-snapshots.ts'
import { snapshotPath, snapshotsOf } from '../test/support/tool-snapshots.ts'
import { commandLine } from './command-line.ts'

commandLine({
  command: 'npm run snapshots',
  help: 'Writes the snapshots of the texts that models get. Read the difference before you commit it.',
})

for (const [name, text] of await snapshotsOf()) await write(snapshotPath(name), text)
for (const [name, text] of await promptSnapshots()) await write(snapshotPath(name, 'builtin'), text)

async function write(path: URL, text: string): Promise<void> {
  await mkdir(new URL('.', path), { recursive: true })
  await writeFile(path, text)
}
