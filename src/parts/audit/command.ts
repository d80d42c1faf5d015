/** `agent-server audit`: prints the audit trail. A server may be running on the data folder. */
import { AppError } from '../../base/errors.ts'
import { numberOf, objectOf, textOf, type Fields } from '../../base/fields.ts'
import { parseOwnJson } from '../../base/json.ts'
import { assertNoWords } from '../../option.ts'
import type { CommandCall } from '../../part.ts'
import { assertDataFolder } from '../../storage/data-folder-claim.ts'
import { readTrail } from './reading.ts'

/**
 * Returns exit code 1 when the trail is damaged or, with `--expect`, when no line has the given hash; otherwise 0.
 * @throws AppError `invalid_option`, `not_found` for an empty trail; the errors of `assertDataFolder` and `readTrail`
 */
export async function run({ config, words, flags, print, tell }: CommandCall): Promise<number> {
  assertNoWords('audit', words)
  const since = sinceOf(flags['since'])
  const expect = headOf(flags['expect'])
  await assertDataFolder(config.dataDir)
  const needsResults = flags['json'] !== 'true' && expect === undefined
  const results = needsResults ? await resultsIn(config.dataDir) : new Map<string, Fields>()
  let [records, head, isSound, isExpected] = [0, '', true, expect === undefined]
  for await (const { json, hash, place, problem } of readTrail(config.dataDir)) {
    records++
    head = hash
    if (problem !== undefined) tell(`${place}: ${problem}\n`)
    isSound = isSound && problem === undefined
    isExpected ||= hash === expect
    if (expect !== undefined) continue
    const record = recordIn(json)
    if (String(record['at']) < since) continue
    if (flags['json'] === 'true') print(`${json.toString('utf8')}\n`)
    else if (record['kind'] !== 'result') print(`${lineOf(record, results)}\n`)
  }
  if (records === 0) throw new AppError('not_found', 'There is no audit trail: start the server with --audit on')
  if (!isExpected) tell(`The trail does not go through the head ${expect}\n`)
  tell(`${records} records, head ${head}\n`)
  return isSound && isExpected ? 0 : 1
}

/** Returns the time of `--since` in ISO 8601; '' without the option. @throws AppError `invalid_option` */
function sinceOf(word: string | undefined): string {
  if (word === undefined) return ''
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(word)
  const time = isTime ? Date.parse(word) : Number.NaN
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  const expected = 'expected a time in UTC such as 2027-01-31 or 2027-01-31T12:00:00Z'
  throw new AppError('invalid_option', `Could not use --since "${word}": ${expected}`)
}

/** Returns the hash in `--expect`, in lower case; undefined without the option. @throws AppError `invalid_option` */
function headOf(word: string | undefined): string | undefined {
  if (word === undefined || /^[0-9a-f]{32}$/i.test(word)) return word?.toLowerCase()
  throw new AppError('invalid_option', `Could not use --expect "${word}": expected a head of 32 hex digits`)
}

/** Returns the records of the kind `result`, by the `ref` of their request. */
async function resultsIn(dataDir: string): Promise<Map<string, Fields>> {
  const results = new Map<string, Fields>()
  for await (const { json } of readTrail(dataDir)) {
    const record = recordIn(json)
    const ref = textOf(record['ref'])
    if (record['kind'] === 'result' && ref !== undefined) results.set(ref, record)
  }
  return results
}

function recordIn(json: Buffer): Fields {
  try {
    return objectOf(parseOwnJson(json.toString('utf8')))
  } catch {
    return {} // `lineOf` prints such a record as `unreadable record`.
  }
}

function lineOf(record: Fields, results: ReadonlyMap<string, Fields>): string {
  const at = textOf(record['at']) ?? '?'
  const conversation = textOf(record['conversation'])
  const where = conversation === undefined ? [] : [`conversation ${conversation}`]
  switch (record['kind']) {
    case 'request': {
      const result = results.get(textOf(record['ref']) ?? '')
      const subject = textOf(result?.['subject'])
      const names = Object.values(objectOf(record['target'])).map(String)
      const status = numberOf(result?.['status'])
      return [
        at, `${textOf(record['key'])} from ${textOf(record['address']) ?? 'no address'}:`, textOf(record['operation']),
        ...names, ...(subject === undefined ? [] : [subject]), ...where,
        status === undefined ? '-> no result' : `-> ${status}`,
      ].join(' ')
    }
    case 'secrets': {
      const names = Array.isArray(record['names']) ? record['names'].join(', ') : ''
      return [at, 'secrets given to an agent:', names, ...where].join(' ')
    }
    case 'event': return [at, textOf(record['event']), textOf(record['name'])].join(' ')
    case 'lost': return `${at} ${numberOf(record['records'])} records were lost: the trail could not be written`
    default: return [at, `server ${textOf(record['kind']) ?? 'unreadable record'}`].join(' ')
  }
}
