/**
 * Hooks: shell commands that this server runs at six points of the built-in agent's work (contract/conversations.md,
 * section 10).
 *
 * Hooks are stored and returned in this form. Hooks of the types `prompt` and `agent` are not run.
 */
import {
  arrayOf, boolean, closed, constant, defaultTo, integerOf, numberOf, optional, ref, required, string, stringOf,
  tolerant,
  union, type Definitions, type Member, type Members, type ObjectSchema,
} from './define.ts'

/** The time limit of a hook in seconds, at most a day. Node's timers allow at most 24 days. */
const timeout = numberOf({ exclusiveMinimum: 0, maximum: 86_400 })

function hook(doc: string, type: Member, command: Member): ObjectSchema {
  const members: Members = {
    type,
    name: optional(string),
    command,
    prompt: optional(string),
    system_prompt: optional(string),
    tools: defaultTo([], arrayOf(string)),
    timeout: defaultTo(60, timeout, 'Seconds.'),
    max_iterations: defaultTo(3, integerOf({ minimum: 1 })),
    async: defaultTo(false, boolean, 'True for a hook that runs in the background and decides nothing.'),
  }
  return tolerant(doc, members)
}

const matchers = defaultTo([], arrayOf(ref('HookMatcher'), { maxItems: 100 }))

export const hooks: Definitions = {
  CommandHook: hook(
    'A command for the shell.', defaultTo('command', constant('command')), required(stringOf({ minLength: 1 })),
  ),
  PromptHook: hook('A question to a model; not run.', required(constant('prompt')), defaultTo('', string)),
  AgentHook: hook('A task for an agent; not run.', required(constant('agent')), defaultTo('', string)),
  HookDefinition: union(
    'The action of a hook.', 'type', ['CommandHook', 'PromptHook', 'AgentHook'], [{ variant: 'CommandHook' }],
  ),

  HookMatcher: tolerant('Hooks with the tools to which they apply.', {
    matcher: defaultTo(
      '*', string, '`*` or nothing: all; `/re/` or a text with metacharacters: an expression; else a name.',
    ),
    hooks: defaultTo([], arrayOf(ref('HookDefinition'), { maxItems: 100 })),
  }),

  HookConfig: closed('The hooks of each hook point.', {
    pre_tool_use: matchers,
    post_tool_use: matchers,
    user_prompt_submit: matchers,
    session_start: matchers,
    session_end: matchers,
    stop: matchers,
  }),
}
