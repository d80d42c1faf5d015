/**
 * The library entry: everything that a program may import that embeds the server.
 *
 *     const server = await createAgentServer({ dataDir, workspaceDir, sessionApiKeys: [key] })
 *     httpServer.on('request', server.handlers.request).on('upgrade', server.handlers.upgrade)
 */
export {
  createAgentServer,
  type AgentServer,
  type AgentServerOptions,
  type ConversationsPage,
  type ConversationsQuery,
  type Listening,
} from './agent-server.ts'
export type {
  ConversationHandle, ConversationSummary, EventsPage, EventsQuery, WatchStart,
} from './conversation-handle.ts'
export { LogFiles, type LogFilesOptions } from './base/log-files.ts'
export type { HostProfiles, HostSecrets, HostSettings } from './host-stores.ts'
export type { HostParts } from './host-parts.ts'
export type { AgentProgram, ChangeProgram } from './agent-maker.ts'
export type {
  HostModel, HostModelAnswer, HostModelCall, HostModels, HostModelTool, HostModelToolCall, HostModelUsage, HostTool,
  HostToolCall,
} from './agents/from-host.ts'
export type { Handlers } from './server.ts'
export type { PartFigure, ServerLoad } from './server-load.ts'
export type { ObservedClose, ObservedRequest, ObservedResponse, TrafficObserver } from './http/traffic.ts'
export type { Lent, Part, PartHandler, PartModule, PartSocket, Started, StartedPart } from './part.ts'
export type { Core } from './capabilities.ts'
export type { Offers } from './offers.ts'
export type { Right } from './access.ts'
export type { Call } from './api/call.ts'
export type { HttpResponse } from './http/reply.ts'
export type {
  Agent, AsideAnswer, MessageContext, Recorded, Turn, TurnEnd, UsageReport,
} from './conversation/agent/agent.ts'
export type { AgentHost } from './conversation/agent/host.ts'
export type { JsonObject, JsonValue } from './base/json.ts'
export type { Log } from './base/log.ts'
export type { Clock } from './base/stamp.ts'
export type { PendingConfirmation } from './conversation/run/confirmations.ts'
export type { WatchedEvent } from './conversation/watch.ts'
export { AppError, type ErrorCode, type Issue } from './base/errors.ts'
export type { Config, ConfigInput, KeylessConfig, SealingKeyOptions } from './config.ts'
export type { Action } from './schema/generated/actions.ts'
export type {
  ConversationInfo, ExecutionStatus, StartConversationRequestInput as StartConversationRequest,
} from './schema/generated/conversations.ts'
export type { Event, EventDraft, EventKind, PushFrame } from './schema/generated/events.ts'
export type { Observation } from './schema/generated/observations.ts'
export type { LLM, LLMInput } from './schema/generated/llm.ts'
export type { AgentSettings, SettingsPatch, SettingsResponse } from './schema/generated/settings.ts'
export type { Message } from './schema/generated/values.ts'
export { version } from './version.ts'
