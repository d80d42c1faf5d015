/**
 * Events of 1 KB, as an agent's tool call is recorded: in the canonical form, each with its own id, time and texts.
 */
import { randomBytes } from 'node:crypto'
import { createStamper } from '../../src/base/stamp.ts'

const stamp = createStamper(Date.now, randomBytes)

/** The JSON text of the next event; ids and times increase with every call. */
export function actionEvent(): string {
  const { id, timestamp, micros } = stamp()
  const command = `grep -rn --include '*.ts' 'parse${micros % 100}' src | sort | head -n 40 && npm test -- parser && ` +
    'git diff --stat'
  return JSON.stringify({
    kind: 'ActionEvent',
    id,
    timestamp,
    source: 'agent',
    thought: [
      { cache_prompt: false, type: 'text', text: `The callers decide whether the signature can change. ${micros}` },
    ],
    reasoning_content: 'First find every caller, then run the tests of the parser; a failing one tells which caller ' +
      'relies on the old order.',
    thinking_blocks: [],
    action: { kind: 'TerminalAction', command, is_input: false, timeout: 30, reset: false },
    tool_name: 'terminal',
    tool_call_id: `call_${id.slice(0, 23)}`,
    tool_call: {
      id: `call_${id.slice(0, 23)}`,
      name: 'terminal',
      arguments: JSON.stringify({ command, timeout: 30 }),
      origin: 'completion',
    },
    llm_response_id: `resp_${id}`,
    security_risk: 'LOW',
    summary: 'Find the callers of the parser and run its tests',
  })
}
