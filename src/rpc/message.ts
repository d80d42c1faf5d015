/**
 * Classifies the messages of JSON-RPC 2.0 (https://www.jsonrpc.org/specification).
 *
 * `classifyMessage` returns a JSON value as a message of its kind, or the rule that the value breaks. It accepts small
 * faults of real peers, such as `params: null`. It refuses a batch.
 */
import { isObject } from '../base/json.ts'

/** The id that the sender of a request has chosen; 0 and the empty string are ids like any other. */
export type RpcId = number | string | null

export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export interface RpcRequest {
  readonly kind: 'request'
  readonly id: RpcId
  readonly method: string
  /** The parameters: an object or an array; undefined when the message has no parameters. */
  readonly params: unknown
}

export interface RpcNotification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: unknown
}

export interface RpcResult {
  readonly kind: 'result'
  readonly id: RpcId
  readonly result: unknown
}

/** An error response. Its id is null when the peer could not read the request. */
export interface RpcErrorResponse {
  readonly kind: 'error'
  readonly id: RpcId
  readonly error: RpcErrorObject
}

export type RpcRule =
  | 'batch'
  | 'not_an_object'
  | 'version'
  | 'id_type'
  | 'method_type'
  | 'params_type'
  | 'id_missing'
  | 'result_and_error'
  | 'error_shape'
  | 'not_a_message'

export interface RpcInvalid {
  readonly kind: 'invalid'
  readonly rule: RpcRule
  /** True for a message with a method: a request or a notification. */
  readonly calls: boolean
  /** The id of the message; undefined when the id is missing or of a wrong type. */
  readonly id: RpcId | undefined
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResult | RpcErrorResponse | RpcInvalid

/** The codes of JSON-RPC 2.0, section 5.1, and `requestCancelled` of the Agent Client Protocol. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
} as const

export function classifyMessage(value: unknown): RpcMessage {
  if (Array.isArray(value)) return { kind: 'invalid', rule: 'batch', calls: false, id: undefined }
  if (!isObject(value)) return { kind: 'invalid', rule: 'not_an_object', calls: false, id: undefined }
  if (value['jsonrpc'] !== '2.0') return invalid('version', value)
  if (value['id'] !== undefined && !isId(value['id'])) return invalid('id_type', value)
  if (value['method'] !== undefined) return classifyCall(value, value['id'])
  return classifyAnswer(value, value['id'])
}

function classifyCall(value: Record<string, unknown>, id: RpcId | undefined): RpcMessage {
  const { method, params } = value
  if (typeof method !== 'string') return invalid('method_type', value)
  if (params !== undefined && typeof params !== 'object') return invalid('params_type', value)
  if (id === undefined) return { kind: 'notification', method, params: params ?? undefined }
  return { kind: 'request', id, method, params: params ?? undefined }
}

function classifyAnswer(value: Record<string, unknown>, id: RpcId | undefined): RpcMessage {
  const { result, error } = value
  if (result === undefined && error === undefined) return invalid('not_a_message', value)
  // Some peers send both `result` and `error`, one of them null.
  const isError = error !== undefined && error !== null
  if (isError && result !== undefined && result !== null) return invalid('result_and_error', value)
  if (id === undefined) return invalid('id_missing', value)
  if (!isError) return { kind: 'result', id, result: result ?? null }
  return isErrorObject(error) ? { kind: 'error', id, error } : invalid('error_shape', value)
}

function invalid(rule: RpcRule, value: Record<string, unknown>): RpcInvalid {
  const id = isId(value['id']) ? value['id'] : undefined
  return { kind: 'invalid', rule, calls: value['method'] !== undefined, id }
}

function isId(value: unknown): value is RpcId {
  return typeof value === 'number' || typeof value === 'string' || value === null
}

function isErrorObject(value: unknown): value is RpcErrorObject {
  return isObject(value) && typeof value['code'] === 'number' && typeof value['message'] === 'string'
}
