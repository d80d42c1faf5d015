/**
 * What models and clients are told of each tool, and the system prompt, as text files under `test/agents/tools/snapshots`, so
 * that a change of a word is seen in review. `scripts/tool-snapshots` writes them, a test compares them.
 */
import { systemPrompt } from '../../src/agents/builtin/prompt.ts'
import { createToolSet, toolNames } from '../../src/agents/tools/registry.ts'
import { toConversationAgent } from '../../src/schema/generated/conversations.ts'
import type { Tool } from '../../src/agents/tools/tool.ts'

/** In the source, not in what the compiler made of it. */
export function snapshotPath(name: string): URL {
  const root = import.meta.url.includes('/dist/') ? '../../../' : '../../'
  return new URL(`${root}test/agents/tools/snapshots/${name}.txt`, import.meta.url)
}

/** Name of the tool, or `system-prompt` -> text. */
export async function snapshotsOf(): Promise<ReadonlyMap<string, string>> {
  const { tools } = await createToolSet({
    workingDir: '/workspace',
    observationsDir: '/observations',
    privateDirs: [],
    settings: {
      tools: toolNames([]).map((name) => ({ name, params: {} })),
      include_default_tools: ['FinishTool', 'ThinkTool'],
      filter_tools_regex: null,
    },
    signal: new AbortController().signal,
  })
  const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'test/model' }, tools: [] })
  if (agent.kind !== 'Agent') throw new TypeError('Expected the built-in agent')
  return new Map([['system-prompt', `${systemPrompt(agent)}\n`], ...tools.map((tool) => [tool.name, snapshotOf(tool)] as const)])
}

function snapshotOf({ name, description, parameters, definition }: Tool): string {
  const { description: same, ...rest } = definition
  const parts = [name, description, `Parameters: ${JSON.stringify(parameters, undefined, 2)}`, `Definition: ${JSON.stringify(rest, undefined, 2)}`]
  return `${parts.join('\n\n')}\n`
}
