/**
 * From the tool calls of a model's answer to actions, or to what is wrong with them (contract: payloads.md, section 5).
 *
 * Names and arguments are repaired first. `security_risk` and `summary`, which every tool gets, are taken off before the
 * tool reads its arguments. A call that cannot be executed keeps the name that the model gave it and says why; that is no
 * end of the run. What follows a call of `finish` is dropped; what was cut off is never executed.
 */
import type { Action } from '../../schema/generated/actions.ts'
import { isSecurityRisk, type MessageToolCall, type SecurityRisk } from '../../schema/generated/values.ts'
import type { ModelTool } from './llm/model.ts'
import type { Tool } from '../../agents/tool.ts'
import { fitArguments, readArguments } from './tool-arguments.ts'
import { repairName } from './tool-names.ts'

/** A call that can be executed. */
export interface PreparedCall {
  readonly ok: true
  /** As the model made it, under the name of the tool. */
  readonly call: MessageToolCall
  readonly tool: Tool
  /** What is executed. */
  readonly action: Action
  /** As the model declared it; UNKNOWN where that counts for nothing. */
  readonly risk: SecurityRisk
  /** Masked. */
  readonly summary: string
}

export interface BadCall {
  readonly ok: false
  readonly call: MessageToolCall
  readonly error: string
}

export interface PrepareOptions {
  readonly tools: readonly Tool[]
  readonly hasAnalyzer: boolean
  /** For the summary alone, which is made for the record. */
  readonly mask: (text: string) => string
  /** The answer has reached a limit within its last call. */
  readonly isCut: boolean
}

/** No argument of a real call is as long: what is longer would make an event that the log refuses. */
const argumentsLimitChars = 1024 * 1024

const cutOff = 'The call was cut off at the limit of output tokens, so it was not executed: make it shorter, or several of it'

export function prepareCalls(calls: readonly MessageToolCall[], options: PrepareOptions): (PreparedCall | BadCall)[] {
  const prepared: (PreparedCall | BadCall)[] = []
  for (const [place, call] of calls.entries()) {
    const isCut = options.isCut && place === calls.length - 1
    const next = isCut ? { ok: false, call: shortened(call), error: cutOff } as const : prepareCall(call, options)
    prepared.push(next)
    if (next.ok && next.action.kind === 'FinishAction') break
  }
  return prepared
}

/** Calls under ids of their own: some servers count anew in every answer, and results are told apart by these ids. */
export function withOwnIds(calls: readonly MessageToolCall[], isTaken: (id: string) => boolean, newId: () => string): MessageToolCall[] {
  const ids = new Set<string>()
  return calls.map((call) => {
    const id = call.id === '' || ids.has(call.id) || isTaken(call.id) ? newId() : call.id
    ids.add(id)
    return { ...call, id }
  })
}

/** How a model is told of a tool: with the members that every tool gets. */
export function modelTool({ name, description, parameters, isReadOnly }: Tool): ModelTool {
  const own = parameters['properties']
  const properties = typeof own === 'object' && own !== null && !Array.isArray(own) ? own : {}
  const risk = isReadOnly ? {} : { security_risk: riskParameter }
  return { name, description, parameters: { ...parameters, properties: { summary: summaryParameter, ...risk, ...properties } } }
}

const summaryParameter = { type: 'string', description: 'What this call does and why, in about ten words, for the user.' }
const riskParameter = {
  type: 'string',
  enum: ['LOW', 'MEDIUM', 'HIGH', 'UNKNOWN'],
  description: 'How much harm this call could do: LOW reads or changes within the workspace, MEDIUM reaches out of it, HIGH destroys, installs or discloses.',
}

function prepareCall(call: MessageToolCall, { tools, hasAnalyzer, mask }: PrepareOptions): PreparedCall | BadCall {
  const bad = (problem: string): BadCall => ({ ok: false, call: shortened(call), error: problem })
  const { length } = call.arguments
  if (length > argumentsLimitChars) return bad(`The arguments have ${length} characters: expected at most ${argumentsLimitChars}`)
  const read = readArguments(call.arguments)
  const named = repairName({ name: call.name, args: read.ok ? read.args : {} }, new Set(tools.map((tool) => tool.name)))
  const tool = tools.find(({ name }) => name === named?.name)
  if (named === undefined || tool === undefined) return bad(unknownTool(call.name, tools))
  if (!read.ok) return bad(`Error validating the arguments of tool '${tool.name}': ${read.problem}`)
  const { security_risk: risk, summary, ...own } = named.args
  const isJudged = hasAnalyzer && !tool.isReadOnly
  if (isJudged && risk !== undefined && !isSecurityRisk(risk)) {
    return bad(`Error validating the arguments of tool '${tool.name}': security_risk: expected LOW, MEDIUM, HIGH or UNKNOWN`)
  }
  const fitting = fitArguments(declares(tool, 'summary') && summary !== undefined ? { ...own, summary } : own, tool.parameters)
  const args = tool.read(fitting)
  if (!args.ok) return bad(`Error validating the arguments of tool '${tool.name}': ${args.problem}`)
  return {
    ok: true,
    call: { ...call, name: tool.name },
    tool,
    action: args.action,
    risk: isJudged && isSecurityRisk(risk) ? risk : 'UNKNOWN',
    summary: typeof summary === 'string' && summary.trim() !== '' ? mask(summary) : ownSummary(tool, JSON.stringify(fitting), mask),
  }
}

/** Of a summary that the model has not given. */
const summaryLimitChars = 200

/** Masked before it is cut: half a secret would not be found. */
function ownSummary({ name }: Tool, args: string, mask: (text: string) => string): string {
  return mask(`${name}: ${args.slice(0, 100 * summaryLimitChars)}`).slice(0, summaryLimitChars)
}

/** Arguments that no event could hold are left out. */
function shortened(call: MessageToolCall): MessageToolCall {
  return call.arguments.length > argumentsLimitChars ? { ...call, arguments: '{}' } : call
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  return `Tool '${name.slice(0, 64)}' not found. Available: ${tools.map((tool) => tool.name).join(', ')}`
}

function declares({ parameters }: Tool, name: string): boolean {
  const { properties } = parameters
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)
}
