/** The tool `finish`: the agent's last message of a task. It ends the turn, unless a hook or the critic objects. */
import { defineTool } from './definition.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

export function createFinishTool(): Tool {
  return defineTool({
    kind: 'FinishTool',
    action: 'FinishAction',
    observation: 'FinishObservation',
    description: [
      'End the task with a last message to the user.',
      'Call it when the task is done, or when you cannot go on without the user. Call it alone, after the results ' +
      'of all',
      'other calls are known. In the message say what was done and how it was checked, and be plain about what was not',
      'done, what failed, and what the user has to do or decide.',
    ].join('\n'),
    parameters: { message: 'The last message to the user.' },
    hints: { readOnly: true, destructive: false, idempotent: true },
    run: async (action) => ({ kind: 'FinishObservation', content: textContent(action.message), is_error: false }),
  })
}
