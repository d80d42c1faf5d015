/** Sentences about authentication, the credentials of external agents and onboarding; see outline.ts. */
import type { Sentences } from './sentence.ts'

/** One row for each combination of login, key, base URL and, for provider A, config directory. */
const everyCell = 'settings/credentials: ${name}: login ${login}, set: ${set || \'nothing\'}'
/** The same on programs that run, with their finished environment. */
const everyChild = 'agents/acp/child-environment: ${name}: login ${login}, set: ${set || \'nothing\'}'
const everyLogin = 'settings/login: ${login}: ${name}'
const reachesProgram =
  'spec/rules: a global secret reaches the program of the agent under its name, and changes and goes with it'

export const access: Sentences = {
  1: [
    'the description has an empty security requirement and no scheme',
    'schema/openapi: has the title and version of the specification, no servers and an empty security requirement',
  ],
  2: ['how clients authenticate is not shown there', 'http/auth: knows each of several keys and nothing else'],
}

export const credentials: Sentences = {
  1: ['a login of the provider\'s program, or a key; both optional', everyCell, everyChild],
  2: ['a login is what the program has stored when the user signed in', everyLogin],
  2.2: [
    'on the same machine the program finds it',
    everyLogin,
    'agents/acp/launch: removes the key where a login is found',
  ],
  2.3: ['a clean machine has none and needs a key', everyLogin, everyCell],
  3: [
    'while there is a login, it is used and a key in the environment is not',
    everyCell,
    everyChild,
    'agents/acp/launch: removes the key where a login is found',
  ],
  '4 A': [
    'where A keeps its login, and its variable',
    everyLogin,
    'settings/providers: holds the three providers of the contract in their order, and others after them',
  ],
  '4 B': [
    'where B keeps its login, and its variable',
    everyLogin,
    'settings/providers: holds the three providers of the contract in their order, and others after them',
  ],
  '4 C': [
    'where C keeps its login, and its variable',
    everyLogin,
    'settings/providers: holds the three providers of the contract in their order, and others after them',
  ],
  5: ['a base URL takes effect, also with a login', everyCell, everyChild],
  5.2: [
    'that of C is passed as the gateway',
    everyCell,
    everyChild,
    'agents/acp/launch: gives a folder of its own to a program that would write into the user\'s, leaves its tools ' +
      'the home, and removes it',
  ],
  6: ['A\'s config directory moves its settings, not the token, and is not needed to find a login', everyLogin],
  6.2: ['it means that a key and a base URL in its way are taken out', everyCell, everyChild],
  7: ['C does what was chosen at the sign-in; a key counts only after that was switched', everyLogin],
  8: [
    'a credential is saved as a global secret named as its variable',
    'settings/secrets: stores, lists without values, gives, replaces and deletes',
    reachesProgram,
  ],
  8.2: [
    'the onboarding saves them as the panel does',
    'note: both are the same request; a client decides when to send it',
  ],
  8.3: ['a blank field keeps the key that is there, or leaves it to the login', 'note: a client sends nothing then'],
  9: [
    'keys are no fields of the agent settings',
    'parts/forms/schema-view: lists the fields of the general and the acp section',
  ],
  9.2: ['custom servers get what they read as global secrets', reachesProgram],
}

export const onboarding: Sentences = {
  1: ['the choice is saved at once', 'settings/store: 3.3 takes what the onboarding of a published client sends'],
  2: [
    'a client checks that it can reach the service',
    'spec/answers: what the server says about itself fits its description',
  ],
  3: ['credentials are optional', everyCell],
  4: [
    'then the first conversation is created',
    'e2e/create: a request that names nothing gets the stored agent and a folder of its own',
  ],
}
