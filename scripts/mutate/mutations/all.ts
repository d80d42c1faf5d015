/** All mutations by the folder of the source whose promises they break. */
import type { MutationSet } from '../mutation.ts'
import { acpMutations } from './acp.ts'
import { acpAskingMutations } from './acp-asking.ts'
import { acpShownMutations } from './acp-shown.ts'
import { apiMutations } from './api.ts'
import { backupMutations } from './backup.ts'
import { baseMutations } from './base.ts'
import { browserMutations } from './browser.ts'
import { builtinMutations } from './builtin.ts'
import { cliMutations } from './cli.ts'
import { consoleMutations } from './console.ts'
import { conversationMutations } from './conversation.ts'
import { embeddingMutations } from './embedding.ts'
import { extensionsMutations } from './extensions.ts'
import { httpMutations } from './http.ts'
import { installMutations } from './install.ts'
import { keyMutations } from './keys.ts'
import { llmMutations } from './llm.ts'
import { mcpMutations } from './mcp.ts'
import { netMutations } from './net.ts'
import { processMutations } from './process.ts'
import { profilesMutations } from './profiles.ts'
import { retentionMutations } from './retention.ts'
import { rpcMutations } from './rpc.ts'
import { settingsMutations } from './settings.ts'
import { storageMutations } from './storage.ts'
import { subagentsMutations } from './subagents.ts'
import { workspaceMutations } from './workspace.ts'
import { wsMutations } from './ws.ts'

export const mutationSets: readonly MutationSet[] = [
  { folder: 'http, access', mutations: httpMutations },
  { folder: 'ws', mutations: wsMutations },
  { folder: 'rpc', mutations: rpcMutations },
  { folder: 'net', mutations: netMutations },
  { folder: 'process', mutations: processMutations },
  { folder: 'storage', mutations: storageMutations },
  { folder: 'parts/backup', mutations: backupMutations },
  { folder: 'parts/profiles, parts/models, parts/docs', mutations: profilesMutations },
  { folder: 'parts/subagents, parts/builtin/risk', mutations: subagentsMutations },
  { folder: 'settings', mutations: settingsMutations },
  { folder: 'conversation', mutations: conversationMutations },
  { folder: 'host-parts, agent-maker', mutations: embeddingMutations },
  { folder: 'api', mutations: apiMutations },
  { folder: 'agents/acp', mutations: [...acpMutations, ...acpShownMutations, ...acpAskingMutations] },
  { folder: 'agents/builtin', mutations: builtinMutations },
  { folder: 'agents/llm, skills, hooks', mutations: llmMutations },
  { folder: 'agents/mcp, oauth', mutations: mcpMutations },
  { folder: 'workspace, agents/tools', mutations: workspaceMutations },
  { folder: 'browser', mutations: browserMutations },
  { folder: 'parts/console', mutations: consoleMutations },
  { folder: 'parts/install', mutations: installMutations },
  { folder: 'parts/extensions, parts/git', mutations: extensionsMutations },
  { folder: 'parts/keys', mutations: keyMutations },
  { folder: 'parts/retention', mutations: retentionMutations },
  { folder: 'base', mutations: baseMutations },
  { folder: 'cli, config', mutations: cliMutations },
]
