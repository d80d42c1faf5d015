/**
 * Where a request to Anthropic says that the prompt may be cached up to here.
 *
 * A cache holds a prefix of tools, system and messages, in this order, and a request may name four ends. The next step of
 * a run repeats everything, so the newest user turn is marked for the next step and the one before it for this step.
 * A mark that the messages bring themselves (`cache_prompt`) goes before those set for good measure.
 * Rules: platform.claude.com/docs, "Prompt caching".
 */
import type { JsonObject } from '../../../base/json.ts'

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

export interface Prompt {
  readonly tools: readonly JsonObject[]
  readonly system: readonly JsonObject[]
  readonly messages: readonly Turn[]
}

const maxBreakpoints = 4

/** A block with the mark. */
export function marked(block: JsonObject): JsonObject {
  return { ...block, cache_control: { type: 'ephemeral' } }
}

/** The prompt with the marks that count; with none at all unless it shall be cached. */
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

/** The most useful first, none twice. */
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
  return block.cache_control !== undefined
}
