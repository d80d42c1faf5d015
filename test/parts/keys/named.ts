/** Named keys for tests: added by the command's own function on the data folder of a test server. */
import type { Part } from '../../../src/part.ts'
import { keys } from '../../../src/parts/keys/part.ts'
import { retention } from '../../../src/parts/retention/part.ts'
import { run } from '../../../src/parts/keys/command.ts'
import { until } from '../../support/processes.ts'
import { listAt, member, rest, type Rest } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { createConfig } from '../../../src/config.ts'

export interface CommandEnd {
  readonly code: number
  readonly printed: string
}

/** Runs `keys` with these words and flags. */
export async function runKeys(
  dataDir: string, words: readonly string[], flags: Readonly<Record<string, string>> = {},
  parts: readonly Part[] = [keys, retention], wanted: readonly string[] = [],
): Promise<CommandEnd> {
  let printed = ''
  const code = await run({
    config: createConfig({ dataDir, workspaceDir: `${dataDir}-work`, parts: wanted }), words, flags,
    given: {}, exposedFiles: [],
    environment: {},
    temporaryDir: '/tmp', print: (text) => void (printed += text), tell: () => undefined,
    input: () => { throw new Error('no input') }, output: async () => undefined,
    signal: new AbortController().signal, parts,
    openServer: () => Promise.reject(new Error('keys opens no server')),
  })
  return { code, printed }
}

/** Adds a key and waits until the server knows it. */
export async function addKey(
  server: TestServer, name: string, flags: Readonly<Record<string, string>>,
): Promise<{ readonly key: string; readonly rest: Rest }> {
  const { printed } = await runKeys(server.dataDir, ['add', name], flags)
  const key = printed.trim()
  await until(async () => {
    const { json } = await server.rest.get('/api/keys')
    return listAt(json, 'items').some((item) => member(item, 'name') === name)
  })
  return { key, rest: rest(server.url, key) }
}
