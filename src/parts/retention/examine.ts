/** Examines the limits for `agent-server doctor`: the limits that are set, and the use of the disk. */
import type { Finding } from '../../finding.ts'
import { valuesOf } from '../../option.ts'
import { folderBytes } from './folder-size.ts'
import { options } from './part.ts'

const MiB = 1024 * 1024
/** The time limit, in milliseconds, for measuring the data folder. */
const measureLimitMs = 5000

export async function examineLimits(values: Readonly<Record<string, unknown>>): Promise<readonly Finding[]> {
  const given = valuesOf(options, values)
  const retained = words({
    days: given.retainDays, conversations: given.retainCount, bytes: given.retainBytes,
  })
  const text = retained === '' ? 'off: a conversation stays until a client deletes it' : `keeps ${retained}`
  const retention: Finding = { subject: 'retention', state: 'ok', text, advice: '' }
  return [retention, await examineUse(given, String(values['dataDir']))]
}

type Given = ReturnType<typeof valuesOf<typeof options>>

async function examineUse({ maxConversations, maxRuns, maxDisk }: Given, dataDir: string): Promise<Finding> {
  const subject = 'limits'
  const limited = words({ conversations: maxConversations, 'runs at once': maxRuns, bytes: maxDisk })
  if (maxDisk === 0) {
    return { subject, state: 'ok', text: limited === '' ? 'none for the whole server' : limited, advice: '' }
  }
  // Undefined if the measurement took too long.
  const used = await folderBytes(dataDir, AbortSignal.timeout(measureLimitMs)).catch(() => undefined)
  if (used === undefined) return { subject, state: 'ok', text: `${limited}; use is not measured in time`, advice: '' }
  const text = `${limited}; the data folder has ${Math.ceil(used / MiB)} MiB, ${Math.floor((used / maxDisk) * 100)} %`
  if (used < maxDisk * 0.9) return { subject, state: 'ok', text, advice: '' }
  const state = used < maxDisk ? 'note' : 'problem'
  return { subject, state, text, advice: 'agent-server prune, or raise --max-disk' }
}

/** Returns the limits that are set, as words. */
function words(limits: Readonly<Record<string, number>>): string {
  return Object.entries(limits).flatMap(([name, limit]) => (limit > 0 ? [`${limit} ${name}`] : [])).join(', ')
}
