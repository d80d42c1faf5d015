/** `agent-server prune`: removes the conversations that exceed the `--retain-...` limits, or lists them. */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { formatRows } from '../../base/rows.ts'
import { entryOf } from '../../conversation/list/listing.ts'
import { peekState } from '../../conversation/log/state-cache.ts'
import type { ConversationState } from '../../conversation/log/state.ts'
import type { Judged } from '../../offers.ts'
import { assertNoWords } from '../../option.ts'
import type { CommandCall } from '../../part.ts'
import { listConversations } from '../../storage/catalogue.ts'
import { assertDataFolder } from '../../storage/data-folder-claim.ts'
import { dueFamilies, familiesOf, hasLimit, type Family, type RetainLimits } from './families.ts'
import { folderBytes } from './folder-size.ts'
import { judgedOf, keptReason, noLimit } from './retention.ts'
import { limitsOf } from './start.ts'
import { waitingWork } from './waiting.ts'

/** Returns exit code 0. @throws AppError `invalid_option`; the errors of `assertDataFolder`, `plan` and `prune` */
export async function run(call: CommandCall): Promise<number> {
  const { config, words, flags, print, tell } = call
  assertNoWords('prune', words)
  const limits = limitsOf(config)
  if (!hasLimit(limits)) throw noLimit()
  await assertDataFolder(config.dataDir)
  const isDryRun = flags['dry-run'] === 'true'
  const judged = isDryRun ? await plan(call, limits) : await prune(call)
  if (flags['json'] === 'true') print(`${JSON.stringify(judged, undefined, 2)}\n`)
  else if (judged.length > 0) print(`${formatRows([header, ...judged.map((one) => rowOf(one, isDryRun))])}\n`)
  tell(`${summary(judged, isDryRun)}\n`)
  return 0
}

async function prune({ openServer, signal }: CommandCall): Promise<readonly Judged[]> {
  const server = await openServer().catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'owned_by_another') throw thrown
    throw new AppError(thrown.code, `${thrown.message}, or only list with --dry-run`, { cause: thrown })
  })
  try {
    return await (await server.use('retention')).prune(signal)
  } finally {
    await server.close()
  }
}

/** Returns the conversations that exceed a limit, and why some of them stay. */
async function plan({ config: { dataDir }, tell, signal }: CommandCall, limits: RetainLimits): Promise<Judged[]> {
  const folder = join(dataDir, 'conversations')
  const states = new Map<string, ConversationState>()
  const unread: string[] = []
  for (const id of await listConversations(folder)) {
    signal.throwIfAborted()
    const state = await peekState(join(folder, id))
    if (state === undefined) unread.push(id)
    else states.set(id, state)
  }
  if (unread.length > 0) tell(`${unread.length} conversations are in use or need a repair, and stay for now\n`)
  const families = familiesOf([...states.values()].map(entryOf))
  const sizes = new Map<string, number>()
  const measure = async ({ members }: Family): Promise<void> => {
    for (const { id } of members) if (!sizes.has(id)) sizes.set(id, await folderBytes(join(folder, id), signal))
  }
  if (limits.bytes > 0) for (const family of families) await measure(family)
  const bytesOf = ({ members }: Family): number => members.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0)
  const judged: Judged[] = []
  for (const family of dueFamilies(families, limits, bytesOf, Date.now())) {
    await measure(family)
    const works = family.members.flatMap(({ id }) => waitingWork(states.get(id) ?? idle) ?? [])
    const stays = family.isKept ? keptReason : works[0] ?? null
    judged.push(...family.members.map((entry) => judgedOf(entry, family.why, sizes, stays)))
  }
  return judged
}

const idle = { execution_status: 'idle', pending_confirmations: [], goal: null, unserved: [] } as const

const header = ['RESULT', 'CONVERSATION', 'LAST CHANGE', 'BYTES', 'WHY']

function rowOf({ id, last_activity: at, bytes, why, stays }: Judged, isDryRun: boolean): string[] {
  const result = stays === null ? (isDryRun ? 'would go' : 'removed') : 'stays'
  return [result, id, at, String(bytes), stays === null ? why : `${stays} (${why})`]
}

function summary(judged: readonly Judged[], isDryRun: boolean): string {
  const gone = judged.filter(({ stays }) => stays === null)
  const bytes = gone.reduce((sum, one) => sum + one.bytes, 0)
  const verb = isDryRun ? 'would be removed' : 'were removed'
  return `${gone.length} conversations with ${bytes} bytes ${verb}, ${judged.length - gone.length} stay nevertheless`
}
