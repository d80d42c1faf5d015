/** The skills of one conversation as its agent uses them: read once, then told from memory. */
import type { ContextChoice, ConversationSkills } from '../../agents/skills.ts'
import { createSkillTool } from './invoke-skill.ts'
import { loadContext, type SkillPlaces } from './load.ts'
import { describeCalled, describeContext } from './telling.ts'
import { matchSkills } from './triggers.ts'

/** Never fails: an unusable skill is told in the log. */
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
