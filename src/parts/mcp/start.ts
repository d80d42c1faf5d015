/** Starts the part `mcp`: logins, trials and sign-ins, and the tools of servers. */
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { startChildBelow } from '../../process/child.ts'
import { changeLog } from '../../settings/change-log.ts'
import { createMaskedValues } from '../../settings/masked-values.ts'
import { version } from '../../version.ts'
import type { McpHost } from './connect.ts'
import { openLoginFile } from './oauth/login-file.ts'
import { createLogins, type Logins } from './oauth/logins.ts'
import { redirectUriOf } from './oauth/redirect-uri.ts'
import { mcp } from './part.ts'
import * as routes from './routes.ts'
import { createMcpService } from './service.ts'
import { withMcpServers } from './tool-set.ts'

export function start(core: Needs): Started<typeof mcp> {
  const { config, clock, masker, secretValues, urls, cipher, log } = core
  const { mcpStartTimeoutMs, mcpPatienceMs } = valuesOf(mcp.options, config)
  const logins = openLogins(core)
  const host = hostOf(core, logins)
  const service = createMcpService({
    host,
    logins,
    cipher,
    clock,
    log,
    secrets: secretValues,
    mask: (text) => masker.mask(text),
    redirectUri: () => redirectUriOf({ publicUrl: config.publicUrl, urls }),
    createId: randomUUID,
    random: randomBytes,
  })
  const limits = { startTimeoutMs: mcpStartTimeoutMs, patienceMs: mcpPatienceMs }
  return {
    handlers: handlersOf({ mcp: service }),
    offers: {
      mcpTools: {
        extend: (set, { settings, conversation, filter, log: logOfAgent }) => {
          return withMcpServers(set, { settings, conversation, filter, log: logOfAgent, host, limits, clock })
        },
      },
      mcpTokens: { tokenFor: (server, state, signal) => logins.bearer(server, state).token(signal) },
    },
    async close() {
      await service.close()
      await logins.close()
    },
  }
}

type Needs = Lent<typeof mcp>

function openLogins({ dataDir, cipher, masker, clock, log }: Needs): Logins {
  const file = openLoginFile({
    path: join(dataDir, mcp.sealedFile.name),
    cipher,
    setMasked: createMaskedValues(masker),
    onChange: changeLog(log, 'Logins of MCP servers were changed'),
  })
  return createLogins({ file, clock })
}

function hostOf({ config, environment, instanceId, cgroupParent }: Needs, logins: Logins): McpHost {
  const { mcpMessageLimitBytes } = valuesOf(mcp.options, config)
  return {
    environment,
    passEnvironment: config.passEnv,
    instanceId,
    createId: randomUUID,
    startProcess: startChildBelow(cgroupParent),
    version,
    logins,
    messageLimits: { limitBytes: mcpMessageLimitBytes, valueLimit: config.jsonValueLimit },
  }
}

function handlersOf(parts: routes.McpParts): Record<keyof typeof mcp.routes, PartHandler> {
  return {
    'POST /api/mcp/test': (call) => routes.testMcpServer(parts, call),
    'POST /api/mcp/oauth/start': (call) => routes.startSignIn(parts, call),
    'GET /api/mcp/oauth/status/{job_id}': (call) => routes.getSignIn(parts, call),
    'POST /api/mcp/oauth/callback/{job_id}': (call) => routes.takeAddress(parts, call),
    'GET /api/mcp/oauth/callback': (call) => routes.takeAnswer(parts, call),
    'DELETE /api/mcp/oauth/logins/{name}': (call) => routes.signOut(parts, call),
  }
}
