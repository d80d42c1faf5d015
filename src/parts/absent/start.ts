/**
 * Starts the part `absent`: fixed responses (contract/others.md, section 11).
 *
 * A consent to telemetry is not stored, because this server sends no telemetry.
 */
import { AppError } from '../../base/errors.ts'
import { ok, success } from '../../api/call.ts'
import type { PartHandler, Started } from '../../part.ts'
import type { absent } from './part.ts'

const noEditor = 'VSCode is disabled in configuration'

export function start(): Started<typeof absent> {
  const handlers: Record<keyof typeof absent.routes, PartHandler> = {
    'GET /api/automation/health': () => ok({ status: 'unavailable' }),
    'GET /api/automation/sdk-version': () => ok({ sdk_version: null }),
    'GET /api/automation/v1': () => ok({ automations: [], total: 0 }),
    'POST /api/automation/v1/telemetry/consent': () => success,
    'GET /api/canvas-extensions/installed': () => ok({ canvas_extensions: [] }),
    'GET /api/vscode/status': () => ok({ running: false, enabled: false, message: noEditor }),
    'GET /api/vscode/url': () => refuse('There is no editor on this server'),
    'GET /api/desktop/url': () => refuse('There is no desktop on this server'),
  }
  return { handlers }
}

function refuse(message: string): never {
  throw new AppError('unavailable', message)
}
