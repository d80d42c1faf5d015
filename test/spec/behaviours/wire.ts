/** Behaviours of events, sockets, keys, errors and the description; see table.ts. */
import type { BehaviourSection } from './table.ts'

export const wire: readonly BehaviourSection[] = [
  {
    title: 'Events REST',
    behaviours: [
      [
        'one event by its id; an unknown one is 404',
        'e2e/events: an event is the same bytes on the socket, by its id, in a page and in a batch',
        'e2e/events: an unknown event and an unknown conversation are 404',
      ],
      [
        'extra members of an event are refused',
        'spec/tables: event: ${kind} is closed and has the fields of the table',
      ],
      [
        'every kind makes a round trip',
        'e2e/events: every event fits its closed schema, with ids and times that only grow',
      ],
      [
        'a rejection keeps its source',
        'parts/hooks/points: an action that a hook blocks is answered with a rejection of the hook, and the ' +
          'others go on',
      ],
      [
        'an action without arguments pairs with its error',
        'conversation/log/state: an action that cannot be executed is never open',
      ],
      [
        'completion logs have their defaults',
        'e2e/built-in-models: a log of each completion is pushed and stored when it is asked for, and names the ' +
          'model and its use',
      ],
      [
        'deltas are frames that are not stored',
        'conversation/run/turn-runner: deltas reach live readers in their place and are not stored',
        'spec/tables: the frames of live streams are no events',
      ],
      [
        'a message: run is false by default; faults are 422',
        'e2e/runs: a message without run is only queued; a run serves all that is queued, in order',
        'e2e/events: a message that is not valid is 422 and not stored',
      ],
      [
        'pages in both directions, exact ends, unknown pages',
        'e2e/events: pages in both directions follow each other without a gap or a double, also with filters',
        'e2e/events: a page that is exactly full is the last, and an unknown page begins from the start',
      ],
      [
        'filters by kind, source and text, alone and together',
        'e2e/events: filters find what they name, alone and together',
      ],
      [
        'times: from is inclusive, before exclusive, any offset',
        'conversation/log/event-reader: from is inclusive and before is exclusive, to the microsecond',
        'e2e/events: a time is taken with any offset, and without one as UTC',
      ],
      [
        'damaged events are left out',
        'conversation/log/event-reader: a damaged event is left out of pages and found by no id',
      ],
      ['a search reads a page of a long log', 'conversation/log/event-reader: a search lets other work run'],
      [
        'a search does not wait for a run',
        'e2e/races: readers, writers, forks and patches at once each get a whole answer',
      ],
    ],
  },
  {
    title: 'WebSocket',
    behaviours: [
      [
        'keys in header and query; wrong ones are refused',
        'e2e/socket-opening: the key in the header, in the query or in the first frame opens the stream, which ' +
          'begins with the full state',
        'e2e/socket-opening: a wrong key, and parameters that are not valid, are refused with 403 before the upgrade',
      ],
      [
        'a first frame that does not authenticate closes with 4001',
        'e2e/socket-opening: without a key, a first frame that is ${what} closes with 4001 and tells nothing',
      ],
      [
        'a redundant auth frame is ignored',
        'e2e/socket: an authentication that is not needed is ignored without a word',
      ],
      [
        'a frame that is no message gets one ServerErrorEvent',
        'e2e/socket: a frame that is not a message gets one ServerErrorEvent, alone, and the socket stays open',
      ],
      [
        'a message on the socket is stored and run',
        'e2e/socket: a message on the socket is stored, run, and comes back to everyone who listens',
      ],
      ['resend modes', 'e2e/socket: what is sent again is what was asked for, oldest first, after the full state'],
      [
        'a reader that takes nothing holds up nobody',
        'e2e/readers-long: a reader that stops costs the others nothing; it goes on from the log without a gap, or ' +
          'is disconnected',
      ],
      [
        'a limit of readers, free again when one leaves',
        'e2e/socket: more readers than allowed are closed with 1013, until one leaves',
      ],
      [
        'logs of the commands\' socket have no command and no output',
        'parts/bash/commands-long: gives a command no key and no secret, and masks what it prints',
        'e2e/access: no key and no query string is ever in the log',
      ],
      [
        'sockets use the configuration of deferred init',
        'e2e/deferred-init: sockets are refused before the init, and take the delivered keys only',
      ],
    ],
  },
  {
    title: 'Auth, errors, CORS, static, docs',
    behaviours: [
      [
        '401 on every protected path; several keys',
        'access: asks for a key on every route that is not open, and tells nothing without it',
        'e2e/access: any of several keys opens, and old ones stop with the next start',
      ],
      ['OPTIONS is not 401', 'access: answers a preflight without a key, and refuses that of a foreign page'],
      ['/v1 takes a bearer', 'parts/openai/openai: takes the key as a bearer token here and nowhere else'],
      [
        '422 keeps loc, msg and type, and redacts',
        'api/problem: lists every place that is wrong, without what may be secret',
      ],
      [
        '500 has an error id that the log has',
        'api/problem: tells nothing of what it did not expect but an id that the log has too',
      ],
      [
        'CORS for loopback and the configured origins; none for others',
        'e2e/access: allowed origins get CORS headers on every answer, also on refusals',
        'e2e/access: foreign origins may neither read nor change anything',
      ],
      [
        'workspace pages have CORS of any origin',
        'parts/files/workspace-files: pages of a workspace have the origins of all routes, and no others',
        'note: not any origin: pages of a workspace have the same origins as all routes (decisions 33)',
      ],
      [
        'kinds of events are told apart by kind in the description',
        'schema/openapi: tells the variants of a union apart by kind',
      ],
    ],
  },
  {
    title: 'Remote clients',
    behaviours: [
      [
        'create, attach, run, poll, pages, pause, fork',
        'note: npm run clients -- --only python drives the published client, which is installed outside the tree',
      ],
      [
        'the first frame is the state; a run gives it again',
        'conversation/conversation: the full state follows a pause also where it changes nothing, and the end of a run',
      ],
      [
        'pages of 100 join',
        'e2e/events: pages in both directions follow each other without a gap or a double, also with filters',
      ],
      [
        'the key in the first frame; 4001 and 4004 end',
        'e2e/socket-opening: an unknown conversation is accepted and closed with 4004, but only for who has a key',
      ],
      [
        'the info has the members that a client reads',
        'e2e/create: the info has every member of the contract, nulls included',
      ],
      [
        'fork returns its tags; navigate takes null',
        'e2e/driving: a fork has the same events, a life of its own, and leaves its source alone',
        'e2e/driving: the head moves to an event and in front of all, nothing is deleted, and the next event ' +
          'moves it on',
      ],
    ],
  },
]
