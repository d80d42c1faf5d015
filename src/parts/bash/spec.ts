/** Requests and responses about commands of clients (contract/others.md, section 1). */
import {
  arrayOf, constant, dateTime, defaultTo, integer, integerOf, nullable, oneOf, optional, ref, required, response,
  stated, string, stringOf, tolerant, union, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { conflict, get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

const stamp = { id: required(string, '32 hexadecimal digits.'), timestamp: required(dateTime) }

export const definitions: Definitions = {
  ExecuteBashRequest: tolerant('A command for sh(1).', {
    command: required(stringOf({ minLength: 1, maxLength: 1_000_000 })),
    cwd: optional(string, "The folder it runs in, relative to the home of the server's user. Default: that home."),
    timeout: defaultTo(300, integerOf({ minimum: 1, maximum: 86_400 }), 'Seconds.'),
  }),
  BashEventQuery: tolerant('The filters of a search for commands and outputs.', {
    kind__eq: optional(oneOf('BashCommand', 'BashOutput')),
    command_id__eq: stated({ format: 'uuid' }, optional(string, 'The id of a command: its outputs.')),
    timestamp__gte: optional(dateTime),
    timestamp__lt: optional(dateTime),
    order__gt: optional(integer, 'Leaves outputs up to this number out of the page, which then has fewer items.'),
    sort_order: defaultTo('TIMESTAMP', oneOf('TIMESTAMP', 'TIMESTAMP_DESC')),
    page_id: optional(stringOf({ maxLength: 64 })),
    limit: defaultTo(100, integerOf({ minimum: 1, maximum: 100 })),
  }),
  BashCommand: tolerant('A command that was started.', {
    kind: required(constant('BashCommand')),
    ...stamp,
    command: required(string),
    cwd: required(nullable(string)),
    timeout: required(integer),
  }),
  BashOutput: tolerant('A piece of the output of a command. The last piece has the exit code.', {
    kind: required(constant('BashOutput')),
    ...stamp,
    command_id: required(string),
    order: required(integer),
    exit_code: required(nullable(integer), '-1 for a command that was ended or could not start.'),
    stdout: required(nullable(string)),
    stderr: required(nullable(string)),
  }),
  BashEvent: union('A command or an output.', 'kind', ['BashCommand', 'BashOutput']),
  BashEventPage: response('Commands and outputs.', {
    items: required(arrayOf(ref('BashEvent'))),
    next_page_id: required(nullable(string)),
  }),
  BashCleared: response('The history was cleared.', { cleared_count: required(integer) }),
}

const busy = responseOf('Too many commands run', ref('ServerError'))

export const endpoints: readonly Endpoint[] = inGroup('Bash', [
  {
    ...post('/api/bash/start_bash_command', 'Start a command', 'ExecuteBashRequest'),
    responses: { 200: responseOf('The command', ref('BashCommand')), 503: busy },
  },
  {
    ...post('/api/bash/execute_bash_command', 'Run a command to its end', 'ExecuteBashRequest'),
    responses: { 200: responseOf('Its last output', ref('BashOutput')), 503: busy },
  },
  {
    ...post('/api/bash/bash_commands/{command_id}/stop', 'End a running command'),
    responses: { 200: responseOf('Its last output', ref('BashOutput')), 404: conflict('No such command is running') },
  },
  {
    ...get('/api/bash/bash_events/search', 'Search commands and outputs', ref('BashEventPage')),
    query: 'BashEventQuery',
  },
  get('/api/bash/bash_events/{event_id}', 'Get a command or an output', ref('BashEvent')),
  {
    ...get('/api/bash/bash_events/', 'Get commands and outputs by their ids', arrayOf(nullable(ref('BashEvent')))),
    request: arrayOf(string),
  },
  {
    ...post('/api/bash/bash_events', 'End all commands and clear the history'),
    method: 'DELETE',
    responses: { 200: responseOf('The number of events that were cleared', ref('BashCleared')) },
  },
])
