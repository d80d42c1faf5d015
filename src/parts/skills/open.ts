/** Opens the skills of one conversation for its agent. The skills are read once and kept in memory. */
import type { ContextChoice, ConversationSkills } from '../../agents/skills.ts'
import { createSkillTool } from './invoke-skill.ts'
import { loadContext, type SkillPlaces } from './load.ts'
import { describeCalled, describeContext } from './telling.ts'
import { matchSkills } from './triggers.ts'

/** Reads the skills of a conversation. A skill that cannot be used is left out and logged. */
export async function openSkills(
  context: ContextChoice, workingDir: string, places: SkillPlaces,
): Promise<ConversationSkills> {
  const { skills, memory } = await loadContext(context, workingDir, places)
  return {
    blocks: describeContext(skills, memory),
    calledBy: (text) => describeCalled(matchSkills(text, skills)),
    tool: (onInvoked) => createSkillTool({ skills, onInvoked }),
  }
}
