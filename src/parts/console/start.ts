/** Starts the part `console`. */
import { RefusedKeys } from '../../http/refused-keys.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { consoleAddress } from './address.ts'
import { loadAssets } from './assets.ts'
import { Changes } from './changes.ts'
import { Codes } from './codes.ts'
import { sendAsset, sendPage } from './pages.ts'
import type { consolePart } from './part.ts'
import { searchHistory } from './search.ts'
import { Sessions } from './sessions.ts'
import { beginSession, endSession, listSessions, makeCode, signIn, signOut, type SignInParts } from './sign-in.ts'
import { createVerification } from './verify.ts'

export async function start(core: Lent<typeof consolePart>): Promise<Started<typeof consolePart>> {
  const { config, dataDir, clock, log, pageSessions, namedKeys, conversations, agentQueue } = core
  const sessions = await Sessions.open({ dataDir, clock, log, namedKeys })
  pageSessions.source = sessions
  const assets = loadAssets()
  const changes = new Changes({ conversations, agentQueue })
  const parts: SignInParts = {
    codes: new Codes(clock),
    sessions,
    pageSessions,
    namedKeys,
    refusedCodes: new RefusedKeys(log, clock),
    log,
    publicUrl: config.publicUrl === undefined ? undefined : new URL(config.publicUrl),
    basePath: config.basePath,
  }
  const handlers: Record<keyof typeof consolePart.routes, PartHandler> = {
    'GET /console/': async (call) => sendPage(await assets, call),
    'GET /console/assets/{digest}/{file}': async (call) => sendAsset(await assets, call),
    'POST /api/console/sign-in': (call) => signIn(parts, call),
    'GET /api/console/sessions': (call) => listSessions(parts, call),
    'POST /api/console/sessions': (call) => beginSession(parts, call),
    'DELETE /api/console/sessions/{session_id}': (call) => endSession(parts, call),
    'POST /api/console/sign-out': (call) => signOut(parts, call),
    'POST /api/console/codes': (call) => makeCode(parts, call),
    'GET /api/console/changes': (call) => changes.serve(call),
    'POST /api/console/verify': createVerification({ dataDir, conversations }),
    'GET /api/console/conversations/{conversation_id}/search': (call) => searchHistory(conversations, call),
  }
  const signInAddress = async (url: string): Promise<string | undefined> => {
    if ((await assets) === undefined) return undefined
    return consoleAddress(config.publicUrl ?? url, config.noAuth ? undefined : parts.codes.make())
  }
  const close = async (): Promise<void> => {
    changes.close()
    await sessions.close()
  }
  return { handlers, offers: { console: { signInAddress } }, close }
}
