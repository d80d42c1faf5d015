/**
 * Places the prompt cache breakpoints of a request to Anthropic (platform.claude.com/docs, "Prompt caching").
 *
 * A breakpoint marks the end of a prefix that the provider caches. A request may have four. One is for the newest user
 * message. The last breakpoint left is for the user message before, because the previous request ended there.
 */
import type { JsonObject } from '../../../base/json.ts'

export interface CachedTurn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

export interface Prompt {
  readonly tools: readonly JsonObject[]
  readonly system: readonly JsonObject[]
  readonly messages: readonly CachedTurn[]
}

const maxBreakpoints = 4

/** Returns a copy of the block with a breakpoint of the prompt cache. */
export function marked(block: JsonObject): JsonObject {
  return { ...block, cache_control: { type: 'ephemeral' } }
}

/** Returns the prompt with its breakpoints; without breakpoints when `isCached` is false. */
export function withBreakpoints(prompt: Prompt, isCached: boolean): Prompt {
  const chosen = new Set(isCached ? breakpointsOf(prompt).slice(0, maxBreakpoints) : [])
  const settle = (block: JsonObject): JsonObject => {
    if (chosen.has(block)) return marked(block)
    const { cache_control: _, ...rest } = block
    return rest
  }
  return {
    tools: prompt.tools.map(settle),
    system: prompt.system.map(settle),
    messages: prompt.messages.map(({ role, content }) => ({ role, content: content.map(settle) })),
  }
}

/** Returns the blocks that may get a breakpoint, the most useful block first. */
function breakpointsOf({ tools, system, messages }: Prompt): JsonObject[] {
  const users = messages.filter(({ role }) => role === 'user')
  const candidates = [
    system.findLast(isMarked) ?? system.at(-1),
    users.at(-1)?.content.at(-1),
    ...[...system, ...messages.flatMap(({ content }) => content)].filter(isMarked).reverse(),
    tools.at(-1),
    users.at(-2)?.content.at(-1),
  ]
  return [...new Set(candidates.filter((block) => block !== undefined))]
}

function isMarked(block: JsonObject): boolean {
  return block['cache_control'] !== undefined
}
