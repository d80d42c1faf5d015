/**
 * Makes a tool from its description (`ToolDescription`), which holds the members in which tools differ. The other
 * members are derived from these (contract/payloads.md, section 4).
 */
import { AppError } from '../../../base/errors.ts'
import type { Action } from '../../../schema/generated/actions.ts'
import type { Observation } from '../../../schema/generated/observations.ts'
import type { BuiltInTool } from '../../../schema/generated/tools.ts'
import type { TextContent } from '../../../schema/generated/values.ts'
import { parametersOf, readArguments } from './parameters.ts'
import { actionOf, textContent, type Tool, type ToolRun } from '../../../agents/tool.ts'

type ActionKind = Action['kind']

export interface ToolDescription<K extends ActionKind> {
  readonly kind: BuiltInTool['kind']
  readonly action: K
  readonly observation: Observation['kind']
  readonly description: string
  /** The descriptions of parameters for the model, by name. They replace the descriptions in the action's schema. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly hints: ToolHints
  readonly meta?: Readonly<Record<string, unknown>>
  /** Runs the tool. An AppError of `run` becomes the observation that `failed` returns. */
  readonly run: (action: Extract<Action, { kind: K }>, call: ToolRun) => Promise<Observation>
  /** Returns whether the action needs approval at any risk (`Tool.asks`). Default: false. */
  readonly asks?: (action: Extract<Action, { kind: K }>) => Promise<boolean>
  /** Returns the observation for an AppError of `run` with the message `content`. Without `failed`, `run` rejects. */
  readonly failed?: (action: Extract<Action, { kind: K }>, content: readonly TextContent[]) => Observation
}

/** The MCP annotations of a tool. Their title is the tool's name. With `untitled` they have no title. */
export interface ToolHints {
  readonly untitled?: true
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  /** True when the tool reaches systems outside the workspace. Default false. */
  readonly openWorld?: boolean
}

export function defineTool<K extends ActionKind>(tool: ToolDescription<K>): Tool {
  const name = toolNameOf(tool.kind)
  const { hints, description } = tool
  return {
    name,
    description,
    parameters: parametersOf(tool.action, tool.parameters ?? {}),
    definition: {
      kind: tool.kind,
      description,
      action_type: tool.action,
      observation_type: tool.observation,
      annotations: {
        ...(hints.untitled ? {} : { title: name }),
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
        openWorldHint: hints.openWorld === true,
      },
      ...(tool.meta === undefined ? {} : { meta: tool.meta }),
      title: name,
    },
    isReadOnly: hints.readOnly,
    asks: async (action) => (await tool.asks?.(actionOf(action, tool.action))) === true,
    read: (args) => readArguments(tool.action, args),
    run: (action, call) => runTool(tool, actionOf(action, tool.action), call),
  }
}

/** Returns the name of the tool of a kind: `FileEditorTool` -> `file_editor` (contract/payloads.md, section 4). */
export function toolNameOf(kind: string): string {
  return kind.replace(/Tool$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
}

async function runTool<K extends ActionKind>(
  tool: ToolDescription<K>,
  action: Extract<Action, { kind: K }>,
  call: ToolRun,
): Promise<Observation> {
  call.signal.throwIfAborted()
  try {
    return await tool.run(action, call)
  } catch (thrown) {
    // After a stop of the turn, throw the signal's reason: the stop may have caused this error.
    call.signal.throwIfAborted()
    if (!(thrown instanceof AppError) || tool.failed === undefined) throw thrown
    return tool.failed(action, textContent(thrown.message))
  }
}
