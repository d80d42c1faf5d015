/** Behaviours of settings, secrets and profiles; see table.ts. */
import type { BehaviourSection } from './table.ts'

export const settings: readonly BehaviourSection[] = [
  {
    title: 'Settings and secrets',
    behaviours: [
      [
        'the schema views',
        'parts/forms/schema-view: has the sections of the agent settings in their order',
        'parts/forms/schema-view: describes the conversation settings',
      ],
      [
        'defaults; older files are migrated, newer refused',
        'settings/store: shows the demo agent and the defaults on a fresh server, nulls included',
        'settings/store: 3.1 reads a file of an older schema and writes it in the current form, sealed',
        'e2e/settings: files of a newer version, or damaged ones, are refused with 409 in every way and left as ' +
          'they are',
      ],
      [
        'exposure by header',
        'e2e/settings: secret values are redacted, sealed or plain as the header asks, and only when reading',
        'settings/store: refuses the header ${JSON.stringify(header)}',
      ],
      [
        'patches of each member',
        'settings/store: 2.4 merges objects, replaces arrays, and resets with null at any depth',
        'settings/store: 2.7 takes the LLM of a profile, unless the request has one',
        'settings/store: 2.6 merges misc settings of any shape: null is a value outside and deletes inside',
      ],
      [
        'an empty patch is 400, faults quote nothing, concurrent ones hold',
        'settings/store: 2.2 refuses ${JSON.stringify(request)} as nothing to update',
        'settings/store: 2.9 refuses ${JSON.stringify(diff)} without quoting it',
        'e2e/settings: twenty patches at once all hold',
      ],
      [
        'another kind begins from its defaults',
        'settings/store: 2.5 starts from the defaults of another kind: shared fields are lost unless restated',
        'settings/store: 2.5 merges a diff without a kind into the stored kind',
      ],
      [
        'MCP servers one by one',
        'e2e/mcp-settings: a server is added, changed and removed, and its siblings keep their secrets',
        'e2e/mcp-settings: a name that is taken is 409, one that is not there 404, and neither changes anything',
      ],
      [
        'secrets: list, read, upsert, delete, names',
        'e2e/settings: secrets are listed by name, given by name, replaced and deleted',
        'e2e/settings: refuses names and values that cannot be a variable',
      ],
      [
        'the table of providers',
        'settings/providers: holds the three providers of the contract in their order, and others after them',
        'settings/providers: ${expected ?? \'no provider\'} is found for ${JSON.stringify(command)}',
      ],
      [
        'commands of external agents',
        'settings/providers: resolves a preset without a command or model to its own',
        'conversation/agent/vault: a custom agent without a command is refused',
      ],
    ],
  },
  {
    title: 'Profiles, providers, agent profiles',
    behaviours: [
      [
        'lists, damaged ones, no creation by itself',
        'settings/profiles: there is none at first, and none is made unasked',
        'settings/profiles: a stored profile ${what} costs no other, is not listed, and stays until it is ' +
          'replaced or removed',
      ],
      [
        'read: 404, names, no key without the header',
        'e2e/profiles: what is unknown, taken, damaged, linked to nothing or wrong is refused, and changes nothing',
        'e2e/profiles: the header shows keys as tokens or in plain, tokens come back as keys, and a mask does not',
      ],
      [
        'save: 201, limit 409, sealed',
        'settings/profiles: there is a limit of profiles, which replacing one does not reach, and of the length ' +
          'of each',
        'settings/profiles: every secret is sealed in a private file and masked, also after the next start',
      ],
      [
        'delete, rename, activate',
        'e2e/profiles: a profile is saved, shown without its key, activated, renamed and removed, and the active ' +
          'pointer goes with it',
        'settings/profiles: to remove a profile twice is no failure, and names of members of objects are names ' +
          'like others',
      ],
      ['a model is tried', 'e2e/profiles: a model is tried before it is stored'],
      [
        'agent profiles',
        'parts/profiles/profiles: the first list makes one profile of the settings, also when many ask at once; ' +
          'HEAD makes none',
        'parts/profiles/profiles: saving takes the name of the path, keeps the id, counts revisions and refuses ' +
          'what no profile has',
        'parts/profiles/profiles: activating sets the pointer only, renaming keeps it, deleting clears it',
        'parts/profiles/profiles: fifty profiles and no more, but each may be replaced',
      ],
      ['stores are in the data folder', 'note: there is one data folder (decisions 7), and no folder of a user'],
    ],
  },
  {
    title: 'Secrets, context, switching',
    behaviours: [
      [
        'updates keep other names; values are masked when read',
        'conversation/conversation: secrets are merged and never taken away',
        'settings/lookup: leaves out what fails, says why without secrets, and gives the rest',
        'e2e/built-in: a command gets the secrets that it names, and their values are hidden wherever they show',
      ],
      [
        'masking survives save and load',
        'e2e/restart: what was changed over REST survives a kill: policy, tags, title, secrets, model',
        'e2e/canaries: no canary is anywhere: not while all of it runs, not after a kill and a restart, not in a ' +
          'check of the data',
      ],
      [
        'a source without a value, and a redacted one',
        'settings/lookup: gives static values, and nothing for those without one',
        'settings/lookup: drops redacted values and headers that are sent back',
      ],
      ['headers of lookups', 'settings/lookup: the header ${name} is ${expected ? \'a\' : \'no\'} secret'],
      [
        'secrets of MCP servers are nowhere',
        'e2e/mcp: the tools of a server are listed, called and answered like any other, and no secret shows',
      ],
      [
        'no connection to disabled servers',
        'parts/mcp/servers: gives the tools of all servers in the order of the settings, and starts none that is ' +
          'disabled',
      ],
      [
        'skills of a project',
        'parts/skills/load: of one name the client wins over the user, and the project over both',
        'parts/skills/load: disabled skills are left out, and agents stands for every AGENTS.md',
      ],
      ['plugins', 'e2e/plugins: a plugin that is not here or cannot be used is refused, and creates nothing'],
      [
        'stats by the id of use, over a restart',
        'conversation/log/usage: keeps usage ids apart',
        'conversation/log/usage: goes on from what the log holds',
      ],
      [
        'a switched model keeps its place; a condenser follows unless it has its own',
        'e2e/profiles: a condenser with a copy of the model goes on with the new one, and one with a model of ' +
          'its own keeps it',
      ],
      [
        'the tree of events',
        'e2e/driving: the head moves to an event and in front of all, nothing is deleted, and the next event ' +
          'moves it on',
        'note: events have no parent_id (decisions 1)',
      ],
      [
        'long logs survive a reload',
        'e2e/limits: a page of very long events is shorter than asked for, and the next one goes on',
      ],
      [
        'goals: follow-up, verdict, limits',
        'conversation/extra/goal: a goal is reached when the judge says so: each round is told, and the next ' +
          'message names what is missing',
        'conversation/extra/goal: a verdict that cannot be read counts as not reached, and says so',
        'conversation/extra/goal: a goal is capped after as many rounds as were asked for',
      ],
    ],
  },
]
