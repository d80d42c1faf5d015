/**
 * The tool `think`: has no effect. Its action records the model's thought in the history.
 */
import { defineTool } from './definition.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

export function createThinkTool(): Tool {
  return defineTool({
    kind: 'ThinkTool',
    action: 'ThinkAction',
    observation: 'ThinkObservation',
    description: [
      'Note a thought. Nothing is run, read or changed; the thought stays in the history.',
      'Use it to reason before a hard step: to weigh possible causes of a bug, to compare ways of making a change, to',
      'decide what the output of a command means. Do not use it to talk to the user.',
    ].join('\n'),
    parameters: { thought: 'The thought.' },
    hints: { untitled: true, readOnly: true, destructive: false, idempotent: true },
    run: async () => ({ kind: 'ThinkObservation', content: textContent('The thought is noted.'), is_error: false }),
  })
}
