/**
 * Decides whether a hook applies to a tool (contract/conversations.md, section 10).
 *
 * A regular expression must match the whole tool name. It runs in its own thread for at most one second, because it may
 * run forever. An expression that fails or runs longer counts as a match: the hook may guard a tool.
 */
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { matcherOf } from '../../conversation/agent/hook-config.ts'
import { PatternThread } from '../patterns/pattern-thread.ts'

const patternTimeoutMs = 1000

/** Tells whether a matcher applies to a tool; null stands for no tool. Rejects only with the signal's reason. */
export type Matches = (matcher: string, toolName: string | null, signal: AbortSignal) => Promise<boolean>

export function createMatching(log: Log): Matches {
  /** The results of earlier tries, by expression and tool name. */
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
