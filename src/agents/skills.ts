/** The contract between the built-in agent and the skills of a conversation (contract/others.md, section 4). */
import type { AgentContext } from '../schema/generated/settings.ts'
import type { CalledSkill } from '../conversation/agent/agent.ts'
import type { Tool } from './tool.ts'

/** The members of an `agent_context` that select the skills and notes to read. */
export type ContextChoice = Pick<
  AgentContext, 'skills' | 'load_user_skills' | 'load_project_skills' | 'load_memory' | 'disabled_skills'
>

/** The skills and notes of one conversation, read once, when the agent first needs them. */
export interface ConversationSkills {
  /** Blocks of text for the system prompt. */
  readonly blocks: readonly string[]
  /** Returns the skills that a message of the user triggers. */
  calledBy(text: string): readonly CalledSkill[]
  /** Makes the tool that gets a skill's text and calls `onInvoked`; undefined if the system prompt lists no skill. */
  tool(onInvoked: (name: string) => void): Tool | undefined
}

/** The value for a conversation without skills and notes. */
export const noSkills: ConversationSkills = { blocks: [], calledBy: () => [], tool: () => undefined }
