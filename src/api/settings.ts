/**
 * The routes for the settings (contract/settings.md, sections 1 to 3).
 *
 * The shape of a request is checked here. The store applies the patch and checks the resulting settings.
 */
import { AppError } from '../base/errors.ts'
import { singleHeader } from '../http/headers.ts'
import type { HttpResponse } from '../http/reply.ts'
import { parameterOf } from '../http/router.ts'
import type { Checked } from '../schema/check.ts'
import { isMcpServerChange, McpServer, SettingsPatch, type McpServerChange } from '../schema/generated/settings.ts'
import { parseExposeMode } from '../settings/expose.ts'
import type { SettingsStore } from '../settings/store.ts'
import { bodyOf, ok, type Call } from './call.ts'
import { assertMayExpose } from './permission.ts'
import { jsonResponse } from './problem.ts'

export interface SettingsParts {
  readonly settings: SettingsStore
  readonly reserve: { ensureHeld(): Promise<void> }
}

export async function getSettings({ settings }: SettingsParts, call: Call): Promise<HttpResponse> {
  const header = singleHeader(call.exchange.request.rawHeaders, 'x-expose-secrets')
  return ok(await settings.view(assertMayExpose(call, parseExposeMode(header))))
}

export async function patchSettings({ settings, reserve }: SettingsParts, call: Call): Promise<HttpResponse> {
  const patch = bodyOf(call, SettingsPatch)
  await reserve.ensureHeld()
  return ok(await settings.patch(patch))
}

export async function addMcpServer(parts: SettingsParts, call: Call): Promise<HttpResponse> {
  return jsonResponse(201, await patchMcpServer(parts, call, bodyOf(call, McpServer)))
}

export async function changeMcpServer(parts: SettingsParts, call: Call): Promise<HttpResponse> {
  return ok(await patchMcpServer(parts, call, bodyOf(call, mcpServerChange)))
}

export async function removeMcpServer(parts: SettingsParts, call: Call): Promise<HttpResponse> {
  return ok(await patchMcpServer(parts, call, null))
}

const mcpServerChange: Checked<McpServerChange, McpServerChange> = {
  name: 'McpServerChange',
  is: isMcpServerChange,
  to: (given) => given,
}

/** Adds, changes or removes (null) an MCP server. @throws AppError `conflict`, `not_found`; the errors of `patch` */
async function patchMcpServer(
  { settings, reserve }: SettingsParts, call: Call, server: object | null,
): Promise<object> {
  const key = parameterOf(call.parameters, 'key')
  const isNew = call.exchange.request.method === 'POST'
  await reserve.ensureHeld()
  return settings.patch({ agent_settings_diff: { mcp_config: { [key]: server } } }, ({ agent_settings: current }) => {
    const isThere = Object.hasOwn(current.mcp_config, key)
    if (isNew && isThere) throw new AppError('conflict', `MCP server '${key}' already exists`)
    if (!isNew && !isThere) throw new AppError('not_found', `MCP server '${key}' not found`)
  })
}
