/**
 * Whether hooks are for a tool (contract: conversations.md, section 10).
 *
 * An expression has to match the whole name. It is tried in a thread of its own, once for each name, because it may
 * take for ever; what cannot be decided in time counts as a match, since a hook may be there to guard. A point without
 * a tool has no name, so there only hooks for all tools are run.
 */
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { matcherOf } from '../../conversation/hook-config.ts'
import { PatternThread } from '../../workspace/pattern-thread.ts'

const patternTimeoutMs = 1000

/** Rejects with the signal's reason only. */
export type Matches = (matcher: string, toolName: string | null, signal: AbortSignal) => Promise<boolean>

export function createMatching(log: Log): Matches {
  /** Results by expression, then by name of the tool. */
  const known = new Map<string, boolean>()
  return async (text, toolName, signal) => {
    const matcher = matcherOf(text)
    if (matcher.type === 'all') return true
    if (toolName === null) return false
    if (matcher.type === 'name') return matcher.name === toolName
    const key = JSON.stringify([matcher.source, toolName])
    const matches = known.get(key) ?? (await tryExpression(matcher.source, toolName, { log, signal }))
    known.set(key, matches)
    return matches
  }
}

async function tryExpression(
  source: string, toolName: string, { log, signal }: { log: Log; signal: AbortSignal },
): Promise<boolean> {
  try {
    const thread = await PatternThread.start({
      source: `^(?:${source})$`,
      flags: '',
      timeoutMs: patternTimeoutMs,
      signal,
    })
    try {
      return await thread.test(toolName)
    } finally {
      await thread.close()
    }
  } catch (thrown) {
    signal.throwIfAborted()
    log.warn('The matcher of a hook could not be tried, so the hook is run', { tool: toolName, error: errorOf(thrown) })
    return true
  }
}
