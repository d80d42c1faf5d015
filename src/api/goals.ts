/**
 * The routes for the goal of a conversation: set, stop, resume (contract/conversations.md, sections 4 and 9). State
 * updates with the key `goal` report the progress.
 */
import type { HttpResponse } from '../http/reply.ts'
import { GoalRequest } from '../schema/generated/conversations.ts'
import { bodyOf, conversationIdOf, success, type Call } from './call.ts'
import type { ConversationParts } from './conversations.ts'

export async function startGoal({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const { objective, max_iterations: maxIterations } = bodyOf(call, GoalRequest)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.goal.start(objective, maxIterations)
  return success
}

export async function stopGoal({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  await conversation.goal.interrupt()
  return success
}

export async function resumeGoal({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const conversation = await service.open(conversationIdOf(call))
  await conversation.goal.resume()
  return success
}
