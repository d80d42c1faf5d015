/**
 * `agent-server verify [ID ...]`: checks the stored data and changes nothing.
 *
 * With ids, checks only these conversations. Without ids, also checks the keys, the encrypted files and the files of
 * parts. The check finds accidental damage, but not every change by a person who can write the files (decisions 8).
 */
import { join } from 'node:path'
import { allParts } from '../all-parts.ts'
import { AppError, messageOf } from '../base/errors.ts'
import { formatMode } from '../base/file-mode.ts'
import { existsSync } from '../base/read-files.ts'
import type { Config } from '../config.ts'
import { eventKinds } from '../schema/generated/events.ts'
import { inspectSealed, readKeyIds } from '../sealed-stores.ts'
import { exposedKeys, readSessionKey } from '../settings/keys.ts'
import { listConversations } from '../storage/catalogue.ts'
import { assertDataFolder } from '../storage/data-folder-claim.ts'
import { verifyConversation, type VerifyIssue, type VerifyResult } from '../storage/verify.ts'
import { SealedRecords } from './sealed-records.ts'

export interface VerifyCommand {
  readonly config: Config
  readonly ids: readonly string[]
  /** The value of `--expect`: the hash of a line of the log; undefined without the flag. */
  readonly expect: string | undefined
  readonly asJson: boolean
}

interface VerifiedConversation extends Omit<VerifyResult, 'head' | 'expected'> {
  readonly id: string
  readonly head: string
  /** True when the log has a line with the hash of `--expect`; absent without the flag. */
  readonly expected?: boolean
  /** Ids of keys that this command was not given, and that encrypt the newest agent settings or secrets in the log. */
  readonly missingKeys: readonly string[]
}

/**
 * Runs the command. Returns exit code 0 when everything is sound, otherwise 1. `expect` needs exactly one id.
 * @throws AppError `invalid_option`, `not_found`, `format_unsupported`, `storage_failed`
 */
export async function verify({ config, ids, expect, asJson }: VerifyCommand): Promise<number> {
  if (expect !== undefined && ids.length !== 1) {
    throw new AppError('invalid_option', 'Could not use --expect: expected exactly one conversation id with it')
  }
  await assertDataFolder(config.dataDir)
  const print = (line: string): void => void (asJson || process.stdout.write(`${line}\n`))
  const { problems, sound } = ids.length > 0 ? { problems: [], sound: [] } : await inspectFolder(config)
  for (const line of [...problems, ...sound]) print(line)
  const conversations: VerifiedConversation[] = []
  const folder = join(config.dataDir, 'conversations')
  const given = new Set(await readKeyIds(config).catch(() => [])) // Without ids, each needed key counts as missing.
  for (const id of await chosen(folder, ids)) {
    const verified = await verifyOne({ folder, id, expect, given, isAsked: ids.length > 0 })
    if (verified === undefined) continue
    conversations.push(verified)
    for (const line of linesOf(verified, expect)) print(line)
  }
  const isSound = problems.length === 0 && conversations.every(({ sound }) => sound)
  if (asJson) process.stdout.write(`${JSON.stringify({ sound: isSound, problems, conversations }, undefined, 2)}\n`)
  return isSound ? 0 : 1
}

/** Returns the ids to verify; all stored ids when no id is given. @throws AppError `not_found` for an unknown id */
async function chosen(folder: string, ids: readonly string[]): Promise<string[]> {
  const stored = existsSync(folder) ? (await listConversations(folder)).sort() : []
  if (ids.length === 0) return stored
  return ids.map((id) => {
    const hex = id.replaceAll('-', '').toLowerCase()
    const found = stored.find((one) => one.replaceAll('-', '') === hex)
    if (found === undefined) throw new AppError('not_found', `There is no conversation "${id}" in "${folder}"`)
    return found
  })
}

interface FolderVerdict {
  /** The problems outside of conversations, each as a sentence. */
  readonly problems: readonly string[]
  /** A line of text for each check that found no problem. */
  readonly sound: readonly string[]
}

async function inspectFolder(config: Config): Promise<FolderVerdict> {
  const keys = join(config.dataDir, 'keys')
  const open = (await exposedKeys(keys)).filter(({ othersMay }) => othersMay === 'write')
  const session = await readSessionKey(keys).then(() => [], (thrown: unknown) => [messageOf(thrown)])
  const exposed = open.map(({ path, mode }) => `${path}: other users may write it (mode ${formatMode(mode)})`)
  const own = [...exposed, ...session, ...await inspectSealed(config, allParts)]
  const ofParts = await Promise.all(allParts.map(async (part) => part.inspectFolder?.(config.dataDir)))
  const sound = own.length > 0 ? [] : ['keys, settings and secrets  sound']
  return {
    problems: [...own, ...ofParts.flatMap((found) => found?.problems ?? [])],
    sound: [...sound, ...ofParts.flatMap((found) => found?.sound ?? [])],
  }
}

interface OneConversation {
  readonly folder: string
  readonly id: string
  readonly expect: string | undefined
  /** The ids of the sealing keys that this command was given. */
  readonly given: ReadonlySet<string>
  /** True when the user named the conversation; false when the command found it in the data folder. */
  readonly isAsked: boolean
}

/** Checks one conversation. Returns undefined if it was deleted meanwhile and the user did not name it. */
async function verifyOne(
  { folder, id, expect, given, isAsked }: OneConversation,
): Promise<VerifiedConversation | undefined> {
  const directory = join(folder, id)
  const records = new SealedRecords()
  try {
    const result = await verifyConversation({
      directory,
      kinds: eventKinds,
      ...(expect === undefined ? {} : { expect }),
      onStart: () => records.forget(),
      onRecord: (json) => records.take(json),
    })
    const missingKeys = [...records.keys()].filter((key) => !given.has(key)).sort()
    const { head, expected, ...rest } = result
    const sound = result.sound && missingKeys.length === 0
    return { id, ...rest, sound, head: head.hash, ...(expected === undefined ? {} : { expected }), missingKeys }
  } catch (thrown) {
    if (!isAsked && !existsSync(directory)) return undefined
    if (thrown instanceof AppError) {
      throw new AppError(thrown.code, `Conversation ${id}: ${thrown.message}`, { cause: thrown })
    }
    throw thrown
  }
}

function linesOf(
  { id, sound, issues, expected, events, lines, head, missingKeys }: VerifiedConversation,
  expect = '',
): string[] {
  const missing = missingKeys.join(', ')
  return [
    ...issues.map((issue) => `${id}  ${describe(issue)}`),
    ...(expected === false ? [`${id}  the log does not go through the head ${expect}`] : []),
    ...(missing !== '' ? [`${id}  its secrets were sealed with ${missing}, not among the keys given`] : []),
    ...(sound ? [`${id}  sound: ${events} events, ${lines} lines, head ${head}`] : []),
  ]
}

function describe({ file, offset, line, event, id, problem }: VerifyIssue): string {
  const place = [
    line === undefined ? '' : `line ${line}`,
    event === undefined ? '' : `event ${event}`,
    id === undefined ? '' : `id ${id}`,
  ]
  const named = place.filter(Boolean)
  return `${file} at byte ${offset}${named.length > 0 ? ` (${named.join(', ')})` : ''}: ${problem}`
}
