/**
 * The table of the core's REST routes with their handlers. The compiler checks that the table and `access.ts`, which
 * gives each route its right, name the same routes.
 */
import { access, forRestricted, settling, type RouteName } from '../access.ts'
import type { HttpResponse } from '../http/reply.ts'
import type { Method } from '../http/router.ts'
import type { Call, Handle, Route } from './call.ts'
import * as conversations from './conversations.ts'
import type { DeferredInit } from './deferred-init.ts'
import * as goals from './goals.ts'
import { streamEvents, type StreamParts } from './event-stream.ts'
import * as events from './events.ts'
import * as meta from './meta.ts'
import type { Guarded } from './permission.ts'
import * as profiles from './profiles.ts'
import * as runs from './runs.ts'
import * as secrets from './secrets.ts'
import * as settings from './settings.ts'

export interface ApiParts extends
  StreamParts, settings.SettingsParts, secrets.SecretParts, profiles.ProfileParts {
  readonly meta: meta.Meta
  readonly deferredInit: DeferredInit
}

type Handler = (parts: ApiParts, call: Call) => HttpResponse | Promise<HttpResponse>

const table = {
  'GET /alive': meta.alive,
  'GET /health': meta.alive,
  'GET /ready': meta.ready,
  'GET /server_info': meta.serverInfo,
  'GET /': meta.serverInfo,
  'GET /openapi.json': meta.openapi,

  'GET /api/init': ({ deferredInit }) => deferredInit.state(),
  'POST /api/init': ({ deferredInit }, call) => deferredInit.init(call),

  'POST /api/conversations': conversations.createConversation,
  'GET /api/conversations': conversations.getConversations,
  'GET /api/conversations/search': conversations.searchConversations,
  'GET /api/conversations/count': conversations.countConversations,
  'GET /api/conversations/{conversation_id}': conversations.getConversation,
  'PATCH /api/conversations/{conversation_id}': conversations.updateConversation,
  'DELETE /api/conversations/{conversation_id}': conversations.deleteConversation,
  'POST /api/conversations/{conversation_id}/fork': conversations.forkConversation,
  'POST /api/conversations/{conversation_id}/navigate': conversations.navigateConversation,

  'POST /api/conversations/{conversation_id}/run': runs.run,
  'POST /api/conversations/{conversation_id}/pause': runs.pause,
  'POST /api/conversations/{conversation_id}/interrupt': runs.interrupt,
  'POST /api/conversations/{conversation_id}/confirmation_policy': runs.setConfirmationPolicy,
  'POST /api/conversations/{conversation_id}/security_analyzer': runs.setSecurityAnalyzer,
  'POST /api/conversations/{conversation_id}/secrets': runs.addSecrets,
  'POST /api/conversations/{conversation_id}/switch_llm': runs.switchLlm,
  'POST /api/conversations/{conversation_id}/switch_profile': runs.switchProfile,
  'POST /api/conversations/{conversation_id}/switch_acp_model': runs.switchAcpModel,
  'POST /api/conversations/{conversation_id}/switch_acp_mode': runs.switchAcpMode,
  'POST /api/conversations/{conversation_id}/switch_acp_option': runs.switchAcpOption,
  'POST /api/conversations/{conversation_id}/ask_agent': runs.askAgent,
  'POST /api/conversations/{conversation_id}/goal': goals.startGoal,
  'POST /api/conversations/{conversation_id}/goal/stop': goals.stopGoal,
  'POST /api/conversations/{conversation_id}/goal/resume': goals.resumeGoal,
  'POST /api/conversations/{conversation_id}/condense': runs.condense,
  'GET /api/conversations/{conversation_id}/agent_final_response': runs.getFinalResponse,
  'GET /api/conversations/{conversation_id}/confirmations': runs.listConfirmations,
  'POST /api/conversations/{conversation_id}/events/respond_to_confirmation': runs.respondToConfirmation,

  'POST /api/conversations/{conversation_id}/events': events.sendMessage,
  'GET /api/conversations/{conversation_id}/events': events.getEvents,
  'GET /api/conversations/{conversation_id}/events/search': events.searchForEvents,
  'GET /api/conversations/{conversation_id}/events/stream': streamEvents,
  'GET /api/conversations/{conversation_id}/events/count': events.countMatchingEvents,
  'GET /api/conversations/{conversation_id}/events/{event_id}': events.getEvent,

  'GET /api/settings': settings.getSettings,
  'PATCH /api/settings': settings.patchSettings,
  'POST /api/settings/mcp/{key}': settings.addMcpServer,
  'PATCH /api/settings/mcp/{key}': settings.changeMcpServer,
  'DELETE /api/settings/mcp/{key}': settings.removeMcpServer,
  'GET /api/settings/secrets': secrets.listSecrets,
  'PUT /api/settings/secrets': secrets.putSecret,
  'GET /api/settings/secrets/{name}': secrets.getSecret,
  'DELETE /api/settings/secrets/{name}': secrets.deleteSecret,

  'GET /api/profiles': profiles.listProfiles,
  'GET /api/profiles/{name}': profiles.getProfile,
  'POST /api/profiles/{name}': profiles.saveProfile,
  'DELETE /api/profiles/{name}': profiles.deleteProfile,
  'POST /api/profiles/{name}/rename': profiles.renameProfile,
  'POST /api/profiles/{name}/activate': profiles.activateProfile,

  'GET /api/tools/': meta.tools,
} satisfies Record<HttpRouteName, Handler>

/** All routes of the core except the event socket's, which `upgrades.ts` serves. */
type HttpRouteName = Exclude<RouteName, 'GET /sockets/events/{conversation_id}'>

export function createRoutes(parts: ApiParts): Route[] {
  return Object.entries<Handler>(table).map(([name, handler]) => {
    if (!isRouteName(name)) throw new TypeError(`The route "${name}" has no right`)
    const guarded = { right: access[name], isForRestricted: forRestricted.has(name), isIdle: settling.has(name) }
    return createRoute(name, guarded, (call) => handler(parts, call))
  })
}

export type RouteRules = Pick<Route, keyof Guarded | 'isIdle'>

/**
 * @param name method and pattern, for example `GET /api/settings`
 * @param readsBody true when the handler reads the body of the request itself
 */
export function createRoute(name: string, guarded: RouteRules, handle: Handle, readsBody = false): Route {
  const [method = '', pattern = ''] = name.split(' ')
  if (!isMethod(method)) throw new TypeError(`The route "${name}" has no method`)
  return { method, pattern, ...guarded, handle, readsBody }
}

function isRouteName(name: string): name is RouteName {
  return name in access
}

function isMethod(text: string): text is Method {
  return text === 'GET' || text === 'POST' || text === 'PUT' || text === 'PATCH' || text === 'DELETE'
}
