/**
 * Sends files of a conversation's workspace to a browser (contract/others.md, section 8).
 *
 * A page that an agent wrote may contain any script. So the Content-Security-Policy `sandbox` gives each file an origin
 * of its own.
 */
import { extname } from 'node:path'
import type { Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { headerValues } from '../../http/headers.ts'
import { isLoopbackName, parseAuthority } from '../../http/origin.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import type { WorkspaceSessions } from '../../http/workspace-sessions.ts'
import { openFile } from '../workspace-files/files.ts'
import { sendFile } from './sending.ts'
import { inWorkspace, type WorkspaceOfParts } from './workspace-of.ts'

export interface WorkspaceFileParts extends WorkspaceOfParts {
  readonly sessions: WorkspaceSessions
  /** True when the public URL of this server begins with `https:`. */
  readonly isPublishedSafely: boolean
  readonly stallTimeoutMs: number
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8', '.htm': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8', '.md': 'text/markdown; charset=utf-8', '.csv': 'text/csv; charset=utf-8',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif',
  '.webp': 'image/webp', '.ico': 'image/x-icon', '.pdf': 'application/pdf', '.wasm': 'application/wasm',
  '.mp3': 'audio/mpeg', '.mp4': 'video/mp4', '.webm': 'video/webm', '.woff2': 'font/woff2', '.xml': 'application/xml',
}

const sandbox = "sandbox allow-scripts allow-forms allow-popups; frame-ancestors 'self'"

/** Sends a file, or a folder's `index.html`. @throws AppError `not_found`, `bad_request` for a path that is refused */
export async function sendWorkspaceFile(parts: WorkspaceFileParts, call: Call): Promise<HttpResponse> {
  const path = parameterOf(call.parameters, 'path')
  return inWorkspace(parts, call, async (workspace) => {
    const isFolder = await workspace.at(path === '' ? '.' : path, async ({ kind }) => kind === 'directory')
    const file = isFolder ? `${path === '' ? '.' : path}/index.html` : path
    const opened = await workspace.at(file, openFile).catch((thrown: unknown) => {
      throw asMissing(thrown, isFolder)
    })
    shieldPage(call)
    const type = types[extname(file).toLowerCase()] ?? 'application/octet-stream'
    return sendFile(call, opened, { type, headers: [], stallTimeoutMs: parts.stallTimeoutMs })
  })
}

export function beginSession({ sessions, ...parts }: WorkspaceFileParts, call: Call): HttpResponse {
  return { status: 204, headers: ['Set-Cookie', sessions.begin(isSafe(parts, call), call.principal)] }
}

export function endSession({ sessions, ...parts }: WorkspaceFileParts, call: Call): HttpResponse {
  const { rawHeaders } = call.exchange.request
  return { status: 204, headers: ['Set-Cookie', sessions.end(rawHeaders, isSafe(parts, call))] }
}

/** Replaces the usual Content-Security-Policy of the response by `sandbox`. */
function shieldPage({ exchange: { headers } }: Call): void {
  headers[headers.indexOf('Content-Security-Policy') + 1] = sandbox
}

/** True when browsers accept a `Secure` cookie: the public URL is https, or the request names a loopback host. */
function isSafe({ isPublishedSafely }: Pick<WorkspaceFileParts, 'isPublishedSafely'>, call: Call): boolean {
  const [host = ''] = headerValues(call.exchange.request.rawHeaders, 'host')
  return isPublishedSafely || isLoopbackName(parseAuthority(host)?.name ?? '')
}

function asMissing(thrown: unknown, isFolder: boolean): unknown {
  const isMissing = thrown instanceof AppError && thrown.code === 'not_found'
  return isFolder && isMissing ? new AppError('not_found', 'No index.html in directory') : thrown
}
