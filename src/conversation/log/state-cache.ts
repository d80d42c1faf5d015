/**
 * Reads the cached state of a conversation from its `state.json`.
 *
 * A cache that is damaged, belongs to another log or lacks a field of `ConversationState` is unusable.
 */
import { isObject, parseOwnJson } from '../../base/json.ts'
import type { Position } from '../../storage/chain.ts'
import type { ConversationLog } from '../../storage/log.ts'
import { readFreshState, readState } from '../../storage/state-file.ts'
import { initialState, type ConversationState } from './state.ts'
import type { Created } from './origins.ts'

/**
 * Returns the cached state of a closed conversation; undefined when the cache is missing, unusable or behind the log.
 */
export async function peekState(directory: string): Promise<ConversationState | undefined> {
  const cached = await readFreshState(directory)
  return cached !== undefined && isState(cached.state) ? cached.state : undefined
}

/** Parses a state that this server wrote. Returns undefined when the state lacks a field of `ConversationState`. */
export function parseState(text: string): ConversationState | undefined {
  const state = parseOwnJson(text)
  return isState(state) ? state : undefined
}

/** Returns the cached state and the end of the lines that it includes; undefined for a missing or unusable cache. */
export async function readCachedState(
  directory: string,
  log: ConversationLog,
): Promise<{ readonly line: Position; readonly state: ConversationState } | undefined> {
  const cached = await readState(directory, log)
  return cached !== undefined && isState(cached.state) ? { line: cached.line, state: cached.state } : undefined
}

function isState(value: unknown): value is ConversationState {
  return isObject(value) && Object.keys(initialState(nothing)).every((field) => Object.hasOwn(value, field))
}

const nothing: Created = {
  id: '',
  created_at: '',
  agent: {},
  working_dir: '',
  confirmation_policy: {},
  security_analyzer: null,
  max_iterations: 1,
  stuck_detection: true,
  autotitle: true,
  tags: {},
  secrets: {},
  hook_config: null,
  client_tools: [],
  parent_conversation_id: null,
  launched_agent_profile: null,
}
