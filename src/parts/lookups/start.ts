/** Starts the part `lookups`, which sends a request for each lookup of a secret. */
import { AppError } from '../../base/errors.ts'
import type { Started } from '../../part.ts'
import type { LookupRequest } from '../../settings/lookup.ts'
import { sendRequest } from '../net/outbound.ts'
import type { lookups } from './part.ts'

export function start(): Started<typeof lookups> {
  return { offers: { fetchText } }
}

async function fetchText(request: LookupRequest): Promise<string> {
  const { status, body } = await sendRequest({ method: 'GET', ...request })
  if (status === 200) return body.toString('utf8')
  throw new AppError('upstream_failed', `The lookup was answered with status ${status}`)
}
