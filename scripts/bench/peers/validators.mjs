/**
 * Validators of others for the events of sample-event: an ActionEvent with a TerminalAction, members that are not known
 * refused. Plain JavaScript, because the libraries are not there when this is compiled.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** By name; each tells whether a value is such an event. `folder` is where the libraries are installed. */
export async function createValidators(folder) {
  const load = createRequire(join(folder, 'package.json'))
  return { typebox: withTypebox(load), zod: withZod(load('zod')), ajv: withAjv(load('ajv')) }
}

function withTypebox(load) {
  const { Type } = load('@sinclair/typebox')
  const { TypeCompiler } = load('@sinclair/typebox/compiler')
  const closed = { additionalProperties: false }
  const oneOf = (...values) => Type.Union(values.map((value) => Type.Literal(value)))
  const nullable = (type) => Type.Union([type, Type.Null()])
  const { Object: object, Optional: optional, String: string, Boolean: boolean, Literal: literal } = Type
  const text = object({ cache_prompt: optional(boolean()), type: optional(literal('text')), text: string() }, closed)
  const action = object({
    kind: literal('TerminalAction'),
    command: string(),
    is_input: optional(boolean()),
    timeout: optional(nullable(Type.Number({ minimum: 0 }))),
    reset: optional(boolean()),
  }, closed)
  const origin = oneOf('completion', 'responses')
  const call = object({ id: string(), name: string(), arguments: string(), origin }, closed)
  const event = object({
    kind: literal('ActionEvent'),
    id: optional(string()),
    timestamp: optional(string()),
    source: optional(oneOf('agent', 'user', 'environment')),
    thought: Type.Array(text),
    reasoning_content: optional(nullable(string())),
    thinking_blocks: optional(Type.Array(Type.Unknown(), { maxItems: 0 })),
    action: optional(nullable(action)),
    tool_name: string(),
    tool_call_id: string(),
    tool_call: call,
    llm_response_id: string(),
    security_risk: optional(oneOf('UNKNOWN', 'LOW', 'MEDIUM', 'HIGH')),
    summary: optional(nullable(string())),
  }, closed)
  const compiled = TypeCompiler.Compile(event)
  return (value) => compiled.Check(value)
}

function withZod({ z }) {
  const text = z.strictObject({
    cache_prompt: z.boolean().optional(), type: z.literal('text').optional(), text: z.string(),
  })
  const action = z.strictObject({
    kind: z.literal('TerminalAction'),
    command: z.string(),
    is_input: z.boolean().optional(),
    timeout: z.number().min(0).nullish(),
    reset: z.boolean().optional(),
  })
  const call = z.strictObject({
    id: z.string(), name: z.string(), arguments: z.string(), origin: z.enum(['completion', 'responses']),
  })
  const event = z.strictObject({
    kind: z.literal('ActionEvent'),
    id: z.string().optional(),
    timestamp: z.string().optional(),
    source: z.enum(['agent', 'user', 'environment']).optional(),
    thought: z.array(text),
    reasoning_content: z.string().nullish(),
    thinking_blocks: z.array(z.unknown()).max(0).optional(),
    action: action.nullish(),
    tool_name: z.string(),
    tool_call_id: z.string(),
    tool_call: call,
    llm_response_id: z.string(),
    security_risk: z.enum(['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH']).optional(),
    summary: z.string().nullish(),
  })
  return (value) => event.safeParse(value).success
}

function withAjv({ default: Ajv }) {
  const string = { type: 'string' }
  const boolean = { type: 'boolean' }
  const text = { type: ['string', 'null'] }
  const closed = (properties, required) => ({ type: 'object', properties, required, additionalProperties: false })
  const thought = closed({ cache_prompt: boolean, type: { const: 'text' }, text: string }, ['text'])
  const action = closed(
    {
      kind: { const: 'TerminalAction' }, command: string, is_input: boolean,
      timeout: { type: ['number', 'null'], minimum: 0 }, reset: boolean,
    },
    ['kind', 'command'],
  )
  const origin = { enum: ['completion', 'responses'] }
  const call = closed({ id: string, name: string, arguments: string, origin }, ['id', 'name', 'arguments', 'origin'])
  const members = {
    kind: { const: 'ActionEvent' },
    id: string,
    timestamp: string,
    source: { enum: ['agent', 'user', 'environment'] },
    thought: { type: 'array', items: thought },
    reasoning_content: text,
    thinking_blocks: { type: 'array', maxItems: 0 },
    action: { anyOf: [action, { type: 'null' }] },
    tool_name: string,
    tool_call_id: string,
    tool_call: call,
    llm_response_id: string,
    security_risk: { enum: ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] },
    summary: text,
  }
  const required = ['kind', 'thought', 'tool_name', 'tool_call_id', 'tool_call', 'llm_response_id']
  return new Ajv({ allowUnionTypes: true }).compile(closed(members, required))
}
