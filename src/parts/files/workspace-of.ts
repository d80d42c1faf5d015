/** The workspace of a conversation, for the routes that show it to clients. */
import { conversationIdOf, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { memberAt, textOf } from '../../base/fields.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import { createWorkspace, type Workspace } from '../workspace-files/paths.ts'

export interface WorkspaceOfParts {
  readonly conversations: StoredConversations
  readonly privateDirs: readonly string[]
}

/**
 * Calls `body` with the workspace of the request's conversation, and returns the result.
 * @throws AppError `not_found` without the conversation or a workspace; the errors of `body`, but `bad_request` instead
 * of `invalid_input`
 */
export async function inWorkspace<T>(
  { conversations, privateDirs }: WorkspaceOfParts, call: Call, body: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const workingDir = textOf(memberAt(await conversations.info(conversationIdOf(call)), 'workspace', 'working_dir'))
  if (workingDir === undefined) throw new AppError('not_found', 'The conversation has no workspace')
  try {
    return await body(createWorkspace({ workingDir, privateDirs }))
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'invalid_input') throw thrown
    throw new AppError('bad_request', thrown.message, { cause: thrown.cause })
  }
}
