/**
 * The settings over REST (contract: settings.md sections 1 to 3).
 *
 * The store applies a patch; the shape of a request is checked here, so that both kinds of 422 differ.
 */
import { singleHeader } from '../http/headers.ts'
import type { HttpResponse } from '../http/reply.ts'
import { SettingsPatch } from '../schema/generated/settings.ts'
import { parseExposeMode } from '../settings/expose.ts'
import { agentSchema, conversationSchema } from '../settings/schema-view.ts'
import type { SettingsStore } from '../settings/store.ts'
import { bodyOf, ok, type Call } from './call.ts'

export interface SettingsParts {
  readonly settings: SettingsStore
  readonly reserve: { assertHeld(): Promise<void> }
}

export async function getSettings({ settings }: SettingsParts, call: Call): Promise<HttpResponse> {
  const header = singleHeader(call.exchange.request.rawHeaders, 'x-expose-secrets')
  return ok(await settings.view(parseExposeMode(header)))
}

export async function patchSettings({ settings, reserve }: SettingsParts, call: Call): Promise<HttpResponse> {
  const patch = bodyOf(call, SettingsPatch)
  await reserve.assertHeld()
  return ok(await settings.patch(patch))
}

export function describeAgentSettings(): HttpResponse {
  return ok(agentSchema())
}

export function describeConversationSettings(): HttpResponse {
  return ok(conversationSchema())
}
