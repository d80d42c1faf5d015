/** A data folder that was recorded: five conversations, settings, secrets and keys, and no server. */
import { appendFileSync, chmodSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatLine } from '../../../src/storage/chain.ts'
import { inFolder } from '../../support/processes.ts'

const recorded = fileURLToPath(new URL('../../../../test/fixtures/data-folders/0.1.0/data', import.meta.url))

export const idOfConversation = '5559bf6e-c35c-4621-a7f2-6a80f4b2e5da'

/** Calls `body` with a copy of the recorded folder, below a folder that is removed afterwards. */
export function withRecorded(body: (dataDir: string, folder: string) => Promise<void>): () => Promise<void> {
  return () => inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    copyRecorded(dataDir)
    await body(dataDir, folder)
  })
}

export function copyRecorded(dataDir: string): void {
  cpSync(recorded, dataDir, { recursive: true })
  chmodSync(dataDir, 0o700)
}

export function logOf(dataDir: string, id = idOfConversation): string {
  return join(dataDir, 'conversations', id, 'events.jsonl')
}

/** Appends private records to a log, as a server would. */
export function appendLines(log: string, count = 1): void {
  let hash = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)?.slice(0, 32) ?? ''
  for (let line = 0; line < count; line++) {
    const { bytes, hash: next } = formatLine(hash, Buffer.from('["served","00000000-0000-4000-8000-000000000000"]'))
    appendFileSync(log, bytes)
    hash = next
  }
}
