/**
 * `agent-server verify [ID ...]`: checks the stored conversations line by line, while no server runs on the folder.
 *
 * Prints one line for each conversation: its head, or what is damaged. With `--expect HEAD` and one id it also proves
 * that nothing was changed since that head was noted. It finds accidents and careless edits; it is no seal against who
 * may write the files (decisions 8).
 */
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { lockFolder } from '../process/lock.ts'
import { eventKinds } from '../schema/generated/events.ts'
import { isDataFolder } from '../storage/data-folder-claim.ts'
import { listConversations } from '../storage/catalogue.ts'
import { verifyConversation, type VerifyIssue } from '../storage/verify.ts'
import { onInterrupt } from './signals.ts'

/**
 * Exit code 0 when everything is sound, 1 when something is not.
 * @throws AppError `owned_by_another` while a server runs on the folder, `not_found` for an unknown id.
 */
export async function verify(config: Config, ids: readonly string[], expect: string | undefined): Promise<number> {
  if (expect !== undefined && ids.length !== 1) {
    throw new AppError('invalid_option', 'Could not use --expect: expected exactly one conversation id with it')
  }
  if (!await isDataFolder(config.dataDir)) throw new AppError('not_found', `There is no data folder at "${config.dataDir}"`)
  const lock = await lockFolder(config.dataDir, { clock: Date.now, onLost: () => undefined })
  const ended = new AbortController()
  const stopListening = onInterrupt(ended)
  try {
    const conversations = join(config.dataDir, 'conversations')
    const chosen = ids.length > 0 ? ids : await listConversations(conversations)
    let isSound = true
    for (const id of [...chosen].sort()) {
      ended.signal.throwIfAborted()
      isSound = (await verifyOne(join(conversations, id), id, expect)) && isSound
    }
    return isSound ? 0 : 1
  } finally {
    stopListening()
    await lock.release()
  }
}

async function verifyOne(directory: string, id: string, expect: string | undefined): Promise<boolean> {
  const result = await verifyConversation({ directory, kinds: eventKinds, ...(expect === undefined ? {} : { expect }) })
  for (const issue of result.issues) say(`${id}  ${describe(issue)}`)
  if (result.expected === false) say(`${id}  the log does not go through the head ${String(expect)}`)
  if (result.sound) say(`${id}  sound: ${result.events} events, ${result.lines} lines, head ${result.head.hash}`)
  return result.sound
}

function describe({ file, offset, line, event, problem }: VerifyIssue): string {
  const place = [line === undefined ? '' : `line ${line}`, event === undefined ? '' : `event ${event}`].filter(Boolean)
  return `${file} at byte ${offset}${place.length > 0 ? ` (${place.join(', ')})` : ''}: ${problem}`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
