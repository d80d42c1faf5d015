/**
 * What stands where the built-in agent will be: conversations for it can be made and read, and a run says plainly that
 * this version cannot drive them.
 */
import type { Agent } from '../../conversation/agent.ts'
import { AppError } from '../../base/errors.ts'

const sentence = 'This version has no built-in agent: choose an external agent (agent_kind "acp") for new conversations'

export const absentAgent: Agent = {
  runTurn: () => Promise.resolve({ outcome: 'failed', served: false, code: 'AgentNotAvailable', detail: sentence }),
  policyChanged() {},
  switchModel: () => Promise.reject(new AppError('bad_request', sentence)),
  switchMode: () => Promise.reject(new AppError('bad_request', sentence)),
  askAside: () => Promise.reject(new AppError('bad_request', sentence)),
  close: () => Promise.resolve(),
}
