/**
 * Makes a tool out of the few things in which tools differ.
 *
 * Everything else follows: the name from the kind of the definition, the arguments from the kind of the action, and how
 * clients see it (contract: payloads.md, section 4). Expected failures of a tool (AppError) become observations that
 * say so; anything else that is thrown is left to the loop.
 */
import { AppError } from '../../../base/errors.ts'
import type { Action } from '../../../schema/generated/actions.ts'
import type { Observation } from '../../../schema/generated/observations.ts'
import type { BuiltInTool } from '../../../schema/generated/tools.ts'
import type { TextContent } from '../../../schema/generated/values.ts'
import { parametersOf, readArguments } from './parameters.ts'
import { actionOf, textContent, type Tool, type ToolCall } from '../../../agents/tool.ts'

type ActionKind = Action['kind']

export interface ToolDescription<K extends ActionKind> {
  readonly kind: BuiltInTool['kind']
  readonly action: K
  readonly observation: Observation['kind']
  /** For the model. */
  readonly description: string
  /** Words for the model about single arguments. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly hints: ToolHints
  readonly meta?: Readonly<Record<string, unknown>>
  /** Does it. An AppError that it throws goes to `failed`. */
  readonly run: (action: Extract<Action, { kind: K }>, call: ToolCall) => Promise<Observation>
  /** As in Tool. */
  readonly asks?: (action: Extract<Action, { kind: K }>) => Promise<boolean>
  /** The observation for a failure that was to be expected. A tool without it has none. */
  readonly failed?: (action: Extract<Action, { kind: K }>, content: readonly TextContent[]) => Observation
}

/** The annotations; a tool is titled by its name unless `untitled`. */
export interface ToolHints {
  readonly untitled?: true
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  /** Reaches what others change. Default false. */
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

/** `FileEditorTool` -> `file_editor` (contract: payloads.md, section 4). */
export function toolNameOf(kind: string): string {
  return kind.replace(/Tool$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
}

async function runTool<K extends ActionKind>(
  tool: ToolDescription<K>,
  action: Extract<Action, { kind: K }>,
  call: ToolCall,
): Promise<Observation> {
  call.signal.throwIfAborted()
  try {
    return await tool.run(action, call)
  } catch (thrown) {
    // What was stopped did not fail, whatever the stopping made go wrong.
    call.signal.throwIfAborted()
    if (!(thrown instanceof AppError) || tool.failed === undefined) throw thrown
    return tool.failed(action, textContent(thrown.message))
  }
}
