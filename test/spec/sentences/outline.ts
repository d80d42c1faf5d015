/**
 * The outline of the specification: every section, and in it every numbered rule, table row and paragraph by its name.
 * It stands apart from the sentences, so that a sentence cannot be lost together with its place.
 */
import { actions, observations } from '../payload-tables.ts'
import { embedded, events } from '../event-tables.ts'
import * as authentication from './authentication.ts'
import * as wire from './interface.ts'
import * as resources from './resources.ts'
import * as service from './service.ts'
import type { Sentences } from './sentence.ts'

export interface Section {
  readonly title: string
  /** Each needs a sentence of this name, or sentences whose names begin with it and a dot. */
  readonly places: readonly string[]
  readonly sentences: Sentences
}

export const sections: readonly Section[] = [
  section('Introduction', service.introduction, ...numbers(2), 'base address'),
  section('What the service does', service.whatTheServiceDoes, ...numbers(6), '5 built-in', '5 external'),
  section('Event (common rules)', resources.eventCommonRules, '1', 'id', 'timestamp', 'source', 'kind'),
  section(
    'Event variants', resources.eventVariants, 'default of source', ...Object.keys(events), 'rule 1', 'rule 2',
    'rule 3',
  ),
  section('Embedded objects', resources.embeddedObjects,
    ...Object.keys(embedded), 'SecurityRisk', 'ValidationError', 'HTTPValidationError'),
  section('Action', resources.action, '1', ...Object.keys(actions)),
  section('Observation', resources.observation, '1', ...Object.keys(observations)),
  section('ToolDefinition', resources.toolDefinition, ...numbers(2)),
  section(
    'Agent settings', resources.agentSettings, '1', 'agent_kind', 'acp_server', 'acp_command', 'acp_model', 'others',
  ),
  section('Global secret', resources.globalSecret, ...numbers(3)),
  section('States and transitions', service.statesAndTransitions, ...numbers(2)),
  section('GET one event', wire.readEvent, 'operation', 'event_id', 'conversation_id', 'request body',
    'response 200', 'response 404', 'response 422', 'rule 1', 'rule 2', 'rule 3'),
  section('PATCH settings', wire.patchSettings, ...numbers(4)),
  section('Other endpoints', wire.otherEndpoints, ...numbers(1)),
  section('Access to the service', authentication.access, ...numbers(2)),
  section('Credentials of external agents', authentication.credentials, ...numbers(9), '4 A', '4 B', '4 C'),
  section('Onboarding sequence', authentication.onboarding, ...numbers(4)),
  section('Events', wire.events, ...numbers(7)),
  section('Errors', wire.errors, '404', '422', 'ConversationErrorEvent', 'AgentErrorEvent', 'code'),
  section('Limits', service.limits, ...numbers(2)),
  section('Versioning', service.versioning, ...numbers(4)),
]

function section(title: string, sentences: Sentences, ...places: string[]): Section {
  return { title, places, sentences }
}

function numbers(last: number): string[] {
  return Array.from({ length: last }, (_, index) => String(index + 1))
}
