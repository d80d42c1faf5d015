/**
 * The descriptions of each tool for models and clients, as text files under `test/parts/builtin/tools/snapshots`, so
 * that a change of a word is seen in review. `scripts/tool-snapshots` writes them, a test compares them.
 */
import { testCipher } from './cipher.ts'
import { browserTools } from '../../src/parts/browser/tools.ts'
import { fileToolNames } from '../../src/parts/builtin/tools/tool-list.ts'
import { createToolSet } from '../../src/parts/builtin/tools/registry.ts'
import { AgentBrowser } from '../../src/parts/browser/agent-browser.ts'
import { browserOptions } from '../parts/browser/browsers.ts'
import type { Tool } from '../../src/agents/tool.ts'

/** Of a browser that is never started. */
const browserMakers = browserTools({ browser: new AgentBrowser(browserOptions('/nowhere')), createId: () => 'id' })

/** Returns the address of a snapshot in the source, not in the output of the compiler. */
export function snapshotPath(name: string, folder: 'tools' | 'builtin' = 'tools'): URL {
  const root = import.meta.url.includes('/dist/') ? '../../../' : '../../'
  return new URL(
    `${root}test/parts/builtin/${folder === 'tools' ? 'tools/' : ''}snapshots/${name}.txt`, import.meta.url,
  )
}

/** Name of the tool -> text. */
export async function snapshotsOf(): Promise<ReadonlyMap<string, string>> {
  const { tools } = await createToolSet({
    cipher: testCipher(), mask: (text) => text,
    workingDir: '/workspace',
    observationsDir: '/observations',
    privateDirs: [],
    settings: {
      tools: [...new Set([...fileToolNames, ...Object.keys(browserMakers)])].sort().map((name) => ({
        name, params: {},
      })),
      include_default_tools: ['FinishTool', 'ThinkTool'],
      filter_tools_regex: null,
    },
    makers: browserMakers,
    signal: new AbortController().signal,
  })
  return new Map(tools.map((tool) => [tool.name, snapshotOf(tool)]))
}

function snapshotOf({ name, description, parameters, definition }: Tool): string {
  const { description: same, ...rest } = definition
  const parts = [
    name,
    description,
    `Parameters: ${JSON.stringify(parameters, undefined, 2)}`,
    `Definition: ${JSON.stringify(rest, undefined, 2)}`,
  ]
  return `${parts.join('\n\n')}\n`
}
