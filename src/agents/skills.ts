/**
 * The contract between the built-in agent and the skills of a conversation: texts for the model, and the tool that gives
 * more of them (contract: others.md, section 4). The part `skills` implements it.
 */
import type { AgentContext } from '../schema/generated/settings.ts'
import type { CalledSkill } from '../conversation/agent.ts'
import type { Tool } from './tool.ts'

/** The members of an `agent_context` that say which skills and notes are read. */
export type ContextChoice = Pick<
  AgentContext, 'skills' | 'load_user_skills' | 'load_project_skills' | 'load_memory' | 'disabled_skills'
>

/** The skills and the notes of one conversation, read once. */
export interface ConversationSkills {
  /** Blocks for the system prompt. */
  readonly blocks: readonly string[]
  /** The skills that a message of the user calls for. */
  calledBy(text: string): readonly CalledSkill[]
  /** The tool that gives the text of a skill; none where the prompt names no skill. */
  tool(onInvoked: (name: string) => void): Tool | undefined
}

/** The skills of a conversation that has none. */
export const noSkills: ConversationSkills = { blocks: [], calledBy: () => [], tool: () => undefined }
