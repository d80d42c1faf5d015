/** `agent-server keys add|list|revoke`: the named keys of a data folder, which a running server may be using. */
import { scopes, type Scope } from '../../access.ts'
import { AppError } from '../../base/errors.ts'
import { formatRows } from '../../base/rows.ts'
import type { Tag } from '../../http/principal.ts'
import type { CommandCall } from '../../part.ts'
import { assertDataFolder, assertOwnDataFolder } from '../../storage/data-folder-claim.ts'
import { endOf } from './expiry.ts'
import { isKeyName, namesIn, readKey, removeKey, storeKey, type StoredKey } from './key-files.ts'
import { digestOf, newKey } from './key-text.ts'
import { shownKey, type ShownKey } from './shown.ts'

/**
 * Runs `agent-server keys`. Returns exit code 0.
 * @throws AppError `invalid_option`, `not_found`; the errors of data-folder-claim.ts and key-files.ts
 */
export async function run(call: CommandCall): Promise<number> {
  const [action, ...words] = call.words
  switch (action) {
    case 'add': return add(call, words)
    case 'list': return list(call, words)
    case 'revoke': return revoke(call, words)
    default: throw refused(['keys', ...call.words].join(' '), 'expected keys add NAME, keys list, or keys revoke NAME')
  }
}

async function add({ config, flags, parts, print, tell }: CommandCall, words: readonly string[]): Promise<number> {
  const name = nameIn('add', words)
  const own = scopesIn(flags['scopes'])
  const tag = tagIn(flags['tag'])
  const needsAll = tag === undefined ? undefined : own.find((scope) => !restrictable.includes(scope))
  if (needsAll !== undefined) {
    throw refused('--tag', `the scope "${needsAll}" is for the whole server, expected only ${restrictable.join(', ')}`)
  }
  const limits = {
    conversations: limitIn('max-conversations', flags, mostNumber),
    runs: limitIn('max-runs', flags, mostNumber),
    diskBytes: limitIn('max-disk', flags, mostBytes),
  }
  const limit = (['max-conversations', 'max-runs', 'max-disk'] as const).find((flag) => flags[flag] !== undefined)
  const isKept = parts.some(({ name: part, offers = [] }) => {
    return offers.includes('retention') && (config.parts.length === 0 || config.parts.includes(part))
  })
  if (limit !== undefined && !isKept) {
    throw refused(`--${limit}`, 'the part "retention", which keeps the limits of keys, is not in this server')
  }
  const now = Date.now()
  const expires = endOf(flags['expires'], now)
  const { id, text } = newKey()
  await assertOwnDataFolder(config.dataDir)
  await storeKey(config.dataDir, { name, id, digest: digestOf(text), scopes: own, created: now, expires, tag, limits })
  if (flags['json'] === 'true') print(`${JSON.stringify({ name, id, key: text }, undefined, 2)}\n`)
  else print(`${text}\n`)
  tell(`The key "${name}" (${own.join(', ')}) is not stored and not shown again: keep it now. ` +
    'It is valid within a second on a running server\n')
  return 0
}

async function list({ config, flags, print }: CommandCall, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw refused(`keys list ${words.join(' ')}`, 'expected no further word')
  await assertDataFolder(config.dataDir)
  const keys: StoredKey[] = []
  for (const name of await namesIn(config.dataDir)) {
    const key = await readKey(config.dataDir, name)
    if (key !== undefined) keys.push(key)
  }
  const shown = keys.map((key) => shownKey(key, Date.now()))
  if (flags['json'] === 'true') print(`${JSON.stringify(shown, undefined, 2)}\n`)
  else if (shown.length === 0) print('There are no named keys: add one with agent-server keys add NAME --scopes LIST\n')
  else print(`${formatRows([['NAME', 'ID', 'SCOPES', 'TAG', 'LIMITS', 'CREATED', 'EXPIRES'], ...shown.map(rowOf)])}\n`)
  return 0
}

async function revoke({ config, print }: CommandCall, words: readonly string[]): Promise<number> {
  const name = nameIn('revoke', words)
  await assertOwnDataFolder(config.dataDir)
  if (!await removeKey(config.dataDir, name)) throw new AppError('not_found', `There is no key "${name}"`)
  print(`The key "${name}" is revoked: a running server ends its connections within a second\n`)
  return 0
}

function rowOf({ name, id, scopes: own, tag, created_at, expires_at, is_expired, ...limits }: ShownKey): string[] {
  const tags = Object.entries(tag ?? {}).map(([key, value]) => `${key}=${value}`)
  const end = expires_at === null ? 'never' : `${expires_at}${is_expired ? ' (over)' : ''}`
  return [name, id, own.join(','), tags.join(' ') || '-', shownLimits(limits), created_at, end]
}

function shownLimits(
  { max_conversations, max_runs, max_disk_bytes }: Pick<ShownKey, 'max_conversations' | 'max_runs' | 'max_disk_bytes'>,
): string {
  const limits = Object.entries({ conversations: max_conversations, runs: max_runs, bytes: max_disk_bytes })
  return limits.flatMap(([name, limit]) => (limit === null ? [] : `${limit} ${name}`)).join(', ') || '-'
}

/** The scopes that a key with a tag may have. */
const restrictable: readonly Scope[] = ['read', 'drive', 'approve']

function nameIn(action: string, [name, ...more]: readonly string[]): string {
  if (name === undefined || more.length > 0) throw refused(`keys ${action}`, 'expected the name of one key')
  if (isKeyName(name)) return name
  throw refused(`the name "${name}"`, 'expected 1 to 64 small letters, digits, dots, dashes and underscores')
}

function scopesIn(word: string | undefined): readonly Scope[] {
  const expected = `expected ${scopes.join(', ')}, with commas between them, or all`
  if (word === undefined) throw refused('keys add', `--scopes is missing, ${expected}`)
  if (word === 'all') return scopes
  const given = word.split(',').map((scope) => scope.trim())
  const unknown = given.find((scope) => !scopes.some((known) => known === scope))
  if (unknown !== undefined) throw refused(`--scopes "${unknown}"`, expected)
  return scopes.filter((scope) => given.includes(scope))
}

function tagIn(word: string | undefined): Tag | undefined {
  if (word === undefined) return undefined
  const mark = word.indexOf('=')
  const [name, value] = [word.slice(0, mark), word.slice(mark + 1)]
  if (mark > 0 && /^[a-z0-9]+$/.test(name) && value !== '' && value.length <= 256) return { name, value }
  throw refused(`--tag "${word}"`, 'expected NAME=VALUE; a name has small letters and digits, a value 256 characters')
}

/** The largest limit for the number of conversations or of runs. */
const mostNumber = 9_999_999
/** The largest limit of disk space, in bytes. */
const mostBytes = 2 ** 50

/** Returns the number after a flag; undefined without the flag. @throws AppError `invalid_option` */
function limitIn(flag: string, flags: CommandCall['flags'], most: number): number | undefined {
  const word = flags[flag]
  if (word === undefined) return undefined
  if (/^[1-9]\d*$/.test(word) && Number(word) <= most) return Number(word)
  throw refused(`--${flag} "${word}"`, `expected a number ${most === mostBytes ? 'of bytes ' : ''}from 1 to ${most}`)
}

function refused(what: string, why: string): AppError {
  return new AppError('invalid_option', `Could not use ${what}: ${why}`)
}
