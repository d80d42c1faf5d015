/** Reads the time of a key's expiry from the command line (`--expires`). */
import { AppError } from '../../base/errors.ts'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const tenYearsMs = 3660 * 86_400_000

/**
 * Returns the time when a key expires, in milliseconds since the epoch; undefined without `--expires`.
 * @throws AppError `invalid_option` for a wrong form, a past time, or a time more than 3660 days from now
 */
export function endOf(word: string | undefined, now: number): number | undefined {
  if (word === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(word) ?? []
  const end = count === undefined ? timeOf(word) : now + Number(count) * (unitMs[unit] ?? Number.NaN)
  if (end > now && end <= now + tenYearsMs) return end
  const expected = 'expected 30m, 12h, 90d, or a time in UTC such as 2027-01-31T12:00:00Z, within ten years from now'
  throw new AppError('invalid_option', `Could not use --expires "${word}": ${expected}`)
}

function timeOf(word: string): number {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(word) ? Date.parse(word) : Number.NaN
}
