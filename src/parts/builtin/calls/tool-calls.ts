/**
 * Turns the tool calls of a model's answer into actions, or into errors (contract/payloads.md, section 5).
 *
 * Names and arguments are repaired first. Calls after a valid call of `finish` are dropped.
 */
import type { Action } from '../../../schema/generated/actions.ts'
import {
  isSecurityRisk, securityRiskValues, type MessageToolCall, type SecurityRisk,
} from '../../../schema/generated/values.ts'
import type { ModelTool } from '../llm/model.ts'
import type { Tool } from '../../../agents/tool.ts'
import { fitArguments, readArguments } from './tool-arguments.ts'
import { repairName } from './tool-names.ts'

/** A call that can be executed. */
export interface PreparedCall {
  readonly ok: true
  /** The model's call, with the repaired name and the original arguments. */
  readonly call: MessageToolCall
  readonly tool: Tool
  readonly action: Action
  /** The risk that the model declared; UNKNOWN if it declared none, or if its declaration is not used. */
  readonly risk: SecurityRisk
  /** The summary of the call for the user, with secrets masked. */
  readonly summary: string
}

/** A call that cannot be executed, with the error for the model. */
export interface BadCall {
  readonly ok: false
  readonly call: MessageToolCall
  readonly error: string
}

export interface PrepareOptions {
  readonly tools: readonly Tool[]
  /** True when the security analyzer uses the risk that the model declares. */
  readonly usesDeclaredRisk: boolean
  /** Masks secrets in the summary, which is recorded. */
  readonly mask: (text: string) => string
  /** True when the limit of output tokens cut the answer off. The last call is then treated as cut off. */
  readonly isCut: boolean
}

/** The longest arguments, in characters, that are executed and recorded. The log could refuse longer arguments. */
const argumentsLimitChars = 1024 * 1024

const cutOff =
  'The call was cut off at the limit of output tokens, so it was not executed: make it shorter, or several of it'

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

/**
 * Returns the calls with unique ids, because results are matched by id. Some servers repeat the ids of earlier answers.
 */
export function withOwnIds(
  calls: readonly MessageToolCall[], isTaken: (id: string) => boolean, newId: () => string,
): MessageToolCall[] {
  const ids = new Set<string>()
  return calls.map((call) => {
    const id = call.id === '' || ids.has(call.id) || isTaken(call.id) ? newId() : call.id
    ids.add(id)
    return { ...call, id }
  })
}

/**
 * Describes the tool to the model. Adds two parameters that the server reads itself: `summary` and, unless the tool is
 * read-only, `security_risk`.
 */
export function modelTool({ name, description, parameters, isReadOnly }: Tool): ModelTool {
  const own = parameters['properties']
  const properties = typeof own === 'object' && own !== null && !Array.isArray(own) ? own : {}
  const risk: Tool['parameters'] = isReadOnly ? {} : { security_risk: riskParameter }
  return {
    name,
    description,
    parameters: { ...parameters, properties: { summary: summaryParameter, ...risk, ...properties } },
  }
}

const summaryParameter = {
  type: 'string',
  description: 'What this call does and why, in about ten words, for the user.',
}
const risks = [...securityRiskValues.filter((risk) => risk !== 'UNKNOWN'), 'UNKNOWN']
const riskParameter = {
  type: 'string',
  enum: risks,
  description:
    'How much harm this call could do: LOW reads or changes within the workspace, MEDIUM reaches out of it, ' +
    'HIGH destroys, installs or discloses.',
}

function prepareCall(call: MessageToolCall, { tools, usesDeclaredRisk, mask }: PrepareOptions): PreparedCall | BadCall {
  const bad = (problem: string): BadCall => ({ ok: false, call: shortened(call), error: problem })
  const { length } = call.arguments
  if (length > argumentsLimitChars) {
    return bad(`The arguments have ${length} characters: expected at most ${argumentsLimitChars}`)
  }
  const read = readArguments(call.arguments)
  const named = repairName({ name: call.name, args: read.ok ? read.args : {} }, new Set(tools.map((tool) => tool.name)))
  const tool = tools.find(({ name }) => name === named?.name)
  if (named === undefined || tool === undefined) return bad(unknownTool(call.name, tools))
  if (!read.ok) return bad(`Error validating the arguments of tool '${tool.name}': ${read.problem}`)
  const { security_risk: risk, summary, ...own } = named.args
  const isJudged = usesDeclaredRisk && !tool.isReadOnly
  if (isJudged && risk !== undefined && !isSecurityRisk(risk)) {
    return bad(
      `Error validating the arguments of tool '${tool.name}': security_risk: expected one of ${risks.join(', ')}`,
    )
  }
  const fitting = fitArguments(
    declares(tool, 'summary') && summary !== undefined ? { ...own, summary } : own, tool.parameters,
  )
  const args = tool.read(fitting)
  if (!args.ok) return bad(`Error validating the arguments of tool '${tool.name}': ${args.problem}`)
  return {
    ok: true,
    call: { ...call, name: tool.name },
    tool,
    action: args.action,
    risk: isJudged && isSecurityRisk(risk) ? risk : 'UNKNOWN',
    summary:
      typeof summary === 'string' && summary.trim() !== ''
        ? mask(summary)
        : ownSummary(tool, JSON.stringify(fitting), mask),
  }
}

/** The longest summary that the server makes, in characters. */
const summaryLimitChars = 200

/** Makes a summary from the tool's name and `args`. Masks before the final cut, as a cut secret is not recognized. */
function ownSummary({ name }: Tool, args: string, mask: (text: string) => string): string {
  return mask(`${name}: ${args.slice(0, 100 * summaryLimitChars)}`).slice(0, summaryLimitChars)
}

/** Returns the call, with `{}` in place of arguments longer than `argumentsLimitChars`. */
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
