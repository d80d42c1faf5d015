/** Starts the part `files`. */
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { createDirectory, showHome, searchSubdirectories, type FolderParts } from './folders.ts'
import { openMachine } from '../workspace-files/machine.ts'
import { options, type files } from './part.ts'
import { download, upload, type TransferParts } from './transfer.ts'
import { downloadTrajectory, type TrajectoryParts } from './trajectory.ts'
import { listWorkspace } from './workspace-entries.ts'
import { beginSession, endSession, sendWorkspaceFile, type WorkspaceFileParts } from './workspace-files.ts'
import { openWorkspaceList } from './workspace-list.ts'
import * as workspaces from './workspaces.ts'

export function start(core: Lent<typeof files>): Started<typeof files> {
  const { config, homeDir, dataDir, privateDirs, workspaceDir, conversations, workspaceSessions, admission } = core
  const parts: TransferParts & FolderParts & TrajectoryParts & WorkspaceFileParts & workspaces.WorkspaceParts = {
    admission,
    privateDirs,
    sessions: workspaceSessions,
    isPublishedSafely: config.publicUrl?.startsWith('https:') === true,
    machine: openMachine(privateDirs),
    homeDir: homeDir ?? workspaceDir,
    uploadLimitBytes: valuesOf(options, config).uploadLimitBytes,
    stallTimeoutMs: config.readerStallMs,
    conversations,
    list: openWorkspaceList(dataDir),
  }
  const handlers: Record<keyof typeof files.routes, PartHandler> = {
    'POST /api/file/upload': (call) => upload(parts, call),
    'GET /api/file/download': (call) => download(parts, call),
    'POST /api/file/create_directory': (call) => createDirectory(parts, call),
    'GET /api/file/home': (call) => showHome(parts, call),
    'GET /api/file/search_subdirs': (call) => searchSubdirectories(parts, call),
    'GET /api/file/download-trajectory/{conversation_id}': (call) => downloadTrajectory(parts, call),
    'POST /api/auth/workspace-session': (call) => beginSession(parts, call),
    'DELETE /api/auth/workspace-session': (call) => endSession(parts, call),
    'GET /api/conversations/{conversation_id}/workspace/{path...}': (call) => sendWorkspaceFile(parts, call),
    'GET /api/conversations/{conversation_id}/workspace-entries': (call) => listWorkspace(parts, call),
    'GET /api/workspaces': () => workspaces.list(parts),
    'POST /api/workspaces': (call) => workspaces.add(parts, call),
    'DELETE /api/workspaces': (call) => workspaces.remove(parts, call),
    'POST /api/workspaces/parents': (call) => workspaces.addParents(parts, call),
    'DELETE /api/workspaces/parents': (call) => workspaces.removeParent(parts, call),
  }
  return { handlers }
}
