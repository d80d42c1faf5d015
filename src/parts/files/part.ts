/** The part `files`: files of this machine, downloads of conversations, and the list of workspaces. */
import { integer } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

const GiB = 1024 * 1024 * 1024

export const options = {
  uploadLimitBytes: integer({
    group: 'Limits',
    help: 'Request that uploads a file',
    placeholder: 'BYTES',
    initial: 8 * GiB,
    min: 1024,
    max: 1024 * GiB,
  }),
}

export const files = {
  name: 'files',
  about: 'Files of this machine, histories to download, and the list of workspaces',
  options,
  routes: {
    'POST /api/file/upload': 'files',
    'GET /api/file/download': 'files',
    'POST /api/file/create_directory': 'files',
    // The next two routes show names of folders, from which a client chooses a workspace.
    'GET /api/file/home': 'files',
    'GET /api/file/search_subdirs': 'files',
    'GET /api/file/download-trajectory/{conversation_id}': 'read',
    'POST /api/auth/workspace-session': 'read',
    'DELETE /api/auth/workspace-session': 'read',
    'GET /api/conversations/{conversation_id}/workspace/{path...}': 'workspace',
    'GET /api/conversations/{conversation_id}/workspace-entries': 'read',
    'GET /api/workspaces': 'read',
    'POST /api/workspaces': 'configure',
    'DELETE /api/workspaces': 'configure',
    'POST /api/workspaces/parents': 'configure',
    'DELETE /api/workspaces/parents': 'configure',
  },
  // The cookie of a workspace session opens only the workspaces of conversations that the session's key may see.
  forRestricted: ['POST /api/auth/workspace-session', 'DELETE /api/auth/workspace-session'],
  uploads: ['POST /api/file/upload'],
  spec: () => import('./spec.ts'),
  needs: [
    'admission', 'config', 'homeDir', 'dataDir', 'privateDirs', 'workspaceDir', 'conversations', 'workspaceSessions',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
