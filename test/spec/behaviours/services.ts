/** Behaviours of commands, files, git, skills, MCP and the server itself; see table.ts. */
import type { BehaviourSection } from './table.ts'

export const services: readonly BehaviourSection[] = [
  {
    title: 'Bash, files, git, workspace',
    behaviours: [
      [
        'commands: outputs, codes, time-outs, chunks, search, clear',
        'parts/bash/commands-long: runs a command to its end, and gives its output and exit code',
        'parts/bash/commands-long: ends a command at its time with all that it started, and keeps what it printed',
        'parts/bash/commands-long: cuts a long output into several, and ends a command that prints without end',
        'parts/bash/commands-long: searches, pages and gives single events',
        'parts/bash/commands-long: gives a command no key and no secret, and masks what it prints',
      ],
      [
        'files: uploads, downloads, trajectory, folders, home',
        'parts/files/transfer: stores a file in folders that it makes, and replaces one',
        'parts/files/transfer: refuses paths that cannot be used, with the status of each',
        'parts/files/trajectory: has the conversation and each event, and no secret',
        'parts/files/folders: pages through subdirectories, each once',
      ],
      [
        'git: changes, diff, commits, faults',
        'parts/git/routes: lists changes since a revision, with new files and without ignored ones',
        'parts/git/routes: answers 400 for a file that is too long, not there, or no file, and for two revisions',
        'parts/git/routes: has nothing to tell of a folder that is in no repository, is none, or is not there',
      ],
      [
        'pages of a workspace and their cookie',
        'parts/files/workspace-files: gives files by their types, and the index of a folder',
        'parts/files/workspace-files: gives nothing outside, and nothing that is not there',
        'parts/files/workspace-files: takes the cookie of a session for files of workspaces, and for nothing else',
      ],
      [
        'the list of workspaces',
        'parts/files/workspaces: keeps one entry of each path, over a restart',
        'parts/files/workspaces: answers 409 for a list that cannot be read, and leaves it',
      ],
    ],
  },
  {
    title: 'Skills, plugins, hooks, sub-agents, tools, llm, mcp',
    behaviours: [
      [
        'skills: sources, flags, sync',
        'e2e/skills: skills are answered with their sources, the project before the user',
        'e2e/skills: flags turn sources off, and addresses of a sandbox are a skill',
      ],
      [
        'skills: install, list, enable, remove',
        'e2e/plugins: an installed skill reaches the model while it is enabled, and one of the home folder wins ' +
          'over it',
      ],
      [
        'hooks of a project',
        'e2e/skills: hooks of a project are read in either form, and null when there are none that could be',
      ],
      [
        'lists of models and providers; no token is shown',
        'parts/models/models: lists are sorted, filtered by provider, and empty for a stranger',
        'parts/models/models: there is no sign-in to subscriptions, and the server says so',
      ],
      [
        'a try of an MCP server',
        'e2e/mcp: a try tells the tools of a program or an address',
        'e2e/mcp: a try calls a tool, and tells of one that is not there without calling',
        'e2e/mcp: a try that fails says how, without secrets',
        'e2e/mcp: a try takes encrypted values, and refuses what settings would refuse',
      ],
    ],
  },
  {
    title: 'Server, config, webhooks',
    behaviours: [
      [
        'alive, health, ready, server_info',
        'spec/answers: what the server says about itself fits its description',
        'access: answers open routes without a key',
      ],
      [
        'the configuration: file, variables, lists',
        'cli/options: takes a flag before a variable, that before the file, that before the default',
        'note: the names are this server\'s own (src/cli/README.md)',
      ],
    ],
  },
  {
    title: 'Load behaviour',
    behaviours: [
      ['many conversations at once stay apart', 'e2e/races: thirty conversations at once each do their own'],
      [
        'two thousand stored conversations: pages join',
        'conversation/list/listing: keeps the order through thousands of changes',
        'note: times are measured by npm run bench, not asserted',
      ],
      [
        'probes answer while others are busy',
        'e2e/attacks: others are answered during ${attack.what}, and nothing is left of them',
      ],
      [
        'a flood of output, and nothing left of a command',
        'parts/bash/commands-long: cuts a long output into several, and ends a command that prints without end',
        'parts/bash/commands-long: leaves nothing of what a command put into the background',
      ],
      [
        'of two servers one wins',
        'e2e/cli: of four servers that start on one folder at once, one owns it',
        'note: a folder has one server (decisions 10), so there are no leases of conversations',
      ],
      [
        'a slow webhook or socket holds up nothing',
        'parts/webhooks/webhooks: a receiver that hangs holds up no run, no other webhook and no shutdown',
        'e2e/limits: a reader that takes nothing for a while gets everything later, in order and once, and holds ' +
          'up nobody',
      ],
    ],
  },
]
