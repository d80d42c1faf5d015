/**
 * Sign-ins and logins over an authorization server of the tests, without any server of ours: in a folder of their own,
 * with a clock that the test sets.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openLoginFile } from '../../../../src/parts/mcp/oauth/login-file.ts'
import { createLogins, type Bearer, type Logins } from '../../../../src/parts/mcp/oauth/logins.ts'
import { SignIns, type SignInStatus } from '../../../../src/parts/mcp/sign-ins.ts'
import { createMcpTrials, type McpTrials } from '../../../../src/parts/mcp/trials.ts'
import { silentLog } from '../../../../src/base/log.ts'
import { createMasker, type Masker } from '../../../../src/base/masking.ts'
import { startChild } from '../../../../src/process/child.ts'
import { toMcpServer, type McpServerInput } from '../../../../src/schema/generated/settings.ts'
import { createCipher } from '../../../../src/settings/cipher.ts'
import { createMaskedValues } from '../../../../src/settings/masked-values.ts'
import { startOAuth, type OAuthWorld } from '../../../fixtures/oauth-server.ts'
import { makeFolder, until } from '../../../support/processes.ts'

export interface World extends OAuthWorld {
  readonly folder: string
  readonly masker: Masker
  /** Milliseconds that the clock shows. */
  now: number
  readonly logins: Logins
  readonly trials: McpTrials
  readonly signIns: SignIns
  /** Like a new start of the server on the same folder. */
  restart(): Promise<void>
  bearer(state?: unknown, name?: string): Bearer
  /** Starts a sign-in to the MCP server. */
  start(authentication?: object, more?: Partial<McpServerInput>): Promise<string>
  /** Starts a sign-in, acts as the browser, and waits for the end. */
  signIn(authentication?: object): Promise<SignInStatus>
  finished(id: string): Promise<SignInStatus>
}

export interface WorldOptions {
  readonly timeoutMs?: number
  readonly lifeMs?: number
}

export const redirectUri = 'http://127.0.0.1:1/api/mcp/oauth/callback'
const key = randomBytes(32)

export async function withWorld(body: (world: World) => Promise<void>, options: WorldOptions = {}): Promise<void> {
  const oauth = await startOAuth()
  const { folder, remove } = makeFolder()
  const world = makeWorld(oauth, folder, options)
  try {
    await body(world)
  } finally {
    await close(world)
    await oauth.close()
    remove()
  }
}

async function close({ signIns, trials, logins }: World): Promise<void> {
  await signIns.close()
  await trials.close()
  await logins.close()
}

function makeWorld(oauth: OAuthWorld, folder: string, { timeoutMs = 20_000, lifeMs }: WorldOptions): World {
  const masker = createMasker()
  const mask = (text: string): string => masker.mask(text)
  const clock = (): number => world.now
  const open = (): Pick<World, 'logins' | 'trials' | 'signIns'> => {
    const cipher = createCipher({ keys: [key], random: randomBytes })
    const file = openLoginFile({ path: join(folder, 'mcp-logins.json'), cipher, setMasked: createMaskedValues(masker) })
    const logins = createLogins({ file, clock })
    const host = {
      environment: {}, passEnvironment: [], instanceId: 'test', createId: randomUUID, version: '1',
      startProcess: startChild, logins,
    }
    const shared = { secrets: async () => new Map([['CLIENT_SECRET', 'secret of/known+client']]), mask }
    const trials = createMcpTrials({ ...shared, host, log: silentLog })
    const life = lifeMs === undefined ? {} : { lifeMs }
    const signIns = new SignIns({
      ...shared, logins, trials, redirectUri: () => redirectUri, createId: randomUUID, random: randomBytes, clock,
      ...life,
    })
    return { logins, trials, signIns }
  }
  const world: World = {
    ...oauth,
    ...open(),
    folder,
    masker,
    now: 1_800_000_000_000,
    async restart() {
      await close(world)
      Object.assign(world, open())
    },
    bearer: (state, name = 'far') => world.logins.bearer({ name, url: oauth.mcp.url }, state),
    start(authentication = {}, more = {}) {
      const auth = { strategy: 'oauth2', authentication: { type: 'oauth', ...authentication } } as const
      return world.signIns.start({
        name: 'far', server: toMcpServer({ url: oauth.mcp.url, auth, ...more }), timeoutMs, call: undefined,
      })
    },
    async signIn(authentication) {
      const id = await world.start(authentication)
      const { authorizationUrl } = world.signIns.status(id)
      if (authorizationUrl !== undefined) world.signIns.takeAddress(id, await oauth.agree(authorizationUrl))
      return world.finished(id)
    },
    async finished(id) {
      await until(() => world.signIns.status(id).result !== undefined)
      return world.signIns.status(id)
    },
  }
  return world
}

/** The end of a sign-in in one line. */
export function wordsOf({ status, result }: SignInStatus): string {
  return result === undefined || result.ok ? status : `${status}: ${result.error}`
}

export function never(): AbortSignal {
  return new AbortController().signal
}
