/**
 * The architecture as data: who may import whom, and how large things may grow. `power-table.ts` says which file can do
 * harm.
 *
 * This is the one place that says so; `npm run check:shape` holds src/ against it. A commit that widens a row enlarges
 * the scope of a security review, and says why.
 */

/**
 * Folder or file of src -> the folders and files it may import, besides itself. The most specific row counts.
 * Outermost first: `cli -> app -> {api, agents, parts} -> conversation -> {storage, settings} -> schema -> base`.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  'index.ts': [
    'agent-server.ts', 'agent-maker.ts', 'conversation-handle.ts', 'host-parts.ts', 'host-stores.ts',
    'server.ts', 'server-load.ts', 'part.ts', 'capabilities.ts', 'offers.ts', 'access.ts', 'agents/from-host.ts', 'api',
    'conversation', 'http', 'version.ts', 'config.ts', 'schema', 'base',
  ],
  cli: [
    'agent-server.ts', 'all-parts.ts', 'part.ts', 'sealed-stores.ts', 'version.ts', 'config.ts',
    'option.ts', 'settings', 'storage', 'process', 'schema', 'base',
  ],
  'agent-server.ts': [
    'app.ts', 'all-parts.ts', 'server.ts', 'server-load.ts', 'agent-maker.ts', 'capabilities.ts', 'config.ts',
    'conversation-handle.ts', 'host-parts.ts', 'host-stores.ts', 'conversation', 'http', 'process', 'schema', 'base',
  ],
  // The things that the embedding program adds: its parts, and its agent, models and tools as the offers of a part.
  'host-parts.ts': ['access.ts', 'part.ts', 'offers.ts', 'agents/from-host.ts', 'conversation/agent', 'http', 'base'],
  'conversation-handle.ts': ['conversation', 'schema', 'base'],
  'host-stores.ts': ['settings', 'schema'],
  // The list of parts. Deleting a line of parts.ts leaves its part out.
  'all-parts.ts': ['parts.ts', 'part.ts', 'option.ts'],
  'parts.ts': ['part.ts', 'parts'],
  'server.ts': [
    'app.ts', 'loaded-parts.ts', 'part.ts', 'version.ts', 'config.ts', 'api', 'http', 'base',
  ],
  'app.ts': [
    'agent-maker.ts', 'optional-offers.ts', 'loaded-parts.ts', 'capabilities.ts', 'part.ts', 'sealed-stores.ts',
    'server-load.ts', 'config.ts', 'agents/acp/session', 'conversation', 'workspace', 'storage', 'settings',
    'process', 'base',
  ],
  'server-load.ts': ['conversation', 'storage'],
  'sealed-stores.ts': ['inspected-part.ts', 'config.ts', 'settings', 'base'],
  'agent-maker.ts': [
    'capabilities.ts', 'version.ts', 'agents/acp', 'conversation/agent', 'settings', 'process', 'schema', 'base',
  ],
  'optional-offers.ts': ['loaded-parts.ts', 'offers.ts', 'base'],
  'description.ts': ['schema', 'base'],
  'loaded-parts.ts': [
    'access.ts', 'description.ts', 'capabilities.ts', 'offers.ts', 'part.ts', 'server-load.ts', 'http', 'ws', 'base',
  ],
  // The contract between the core and its parts.
  'part.ts': [
    'access.ts', 'capabilities.ts', 'inspected-part.ts', 'offers.ts', 'option.ts', 'config.ts', 'server-load.ts', 'api',
    'http', 'process', 'schema', 'ws',
  ],
  'capabilities.ts': [
    'inspected-part.ts', 'offers.ts', 'server-load.ts', 'config.ts', 'conversation', 'http', 'process', 'settings',
    'base',
  ],
  'offers.ts': ['agents', 'conversation', 'settings', 'schema', 'base'],
  'inspected-part.ts': ['finding.ts', 'process', 'settings'],
  'finding.ts': [],
  'version.ts': [],
  'config.ts': ['option.ts', 'http', 'base'],
  'option.ts': ['base'],
  'access.ts': [],
  api: ['access.ts', 'conversation', 'settings', 'http', 'ws', 'schema', 'base'],
  'agents/from-host.ts': ['schema', 'base'],
  'agents/hooks.ts': ['conversation/agent', 'schema'],
  'agents/skills.ts': ['agents/tool.ts', 'conversation/agent', 'schema'],
  'agents/tool.ts': ['conversation/agent', 'schema', 'base'],
  // Each of its folders knows only the folders of the rows below it.
  'agents/acp': ['agents/acp/turn', 'agents/acp/session', 'agents/acp/calls', 'conversation/agent', 'settings', 'base'],
  'agents/acp/turn': ['agents/acp/session', 'agents/acp/calls', 'conversation/agent', 'rpc', 'schema', 'base'],
  'agents/acp/session': [
    'agents/acp/calls', 'agents/acp/session/demo-modes.ts', 'offers.ts', 'conversation/agent', 'settings', 'process',
    'rpc', 'schema', 'base',
  ],
  'agents/acp/calls': ['conversation/agent', 'schema', 'base'],
  'parts/builtin': [
    'part.ts', 'capabilities.ts', 'offers.ts', 'option.ts', 'parts/builtin', 'agents', 'api', 'conversation',
    'settings', 'process', 'schema', 'base',
  ],
  // Each of its folders knows only the folders of the rows below it.
  'parts/builtin/tools': [
    'part.ts', 'parts/builtin/workspace', 'parts/patterns', 'parts/workspace-files', 'agents', 'settings', 'schema',
    'base',
  ],
  'parts/builtin/workspace': ['parts/patterns', 'parts/workspace-files', 'process', 'base'],
  'parts/builtin/condensing': [
    'parts/builtin/recording', 'parts/builtin/view', 'parts/builtin/llm', 'conversation', 'schema', 'base',
  ],
  'parts/builtin/recording': [
    'parts/builtin/view', 'parts/builtin/llm', 'conversation/agent', 'settings', 'schema', 'base',
  ],
  'parts/builtin/view': ['parts/builtin/calls', 'parts/builtin/llm', 'conversation', 'schema', 'base'],
  'parts/builtin/calls': ['parts/builtin/llm', 'agents/tool.ts', 'schema', 'base'],
  'parts/builtin/llm': ['parts/net', 'agents/from-host.ts', 'settings', 'schema', 'base'],
  'parts/builtin/risk': ['schema', 'base'],
  'parts/browser': [
    'part.ts', 'finding.ts', 'option.ts', 'parts/builtin/tools', 'agents/tool.ts', 'process', 'rpc',
    'parts/net', 'schema', 'base',
  ],
  'parts/files': [
    'part.ts', 'capabilities.ts', 'option.ts', 'parts/workspace-files', 'api', 'conversation/list', 'settings', 'http',
    'schema', 'base',
  ],
  'parts/bash': ['part.ts', 'option.ts', 'api', 'process', 'http', 'ws', 'schema', 'base'],
  'parts/git': [
    'part.ts', 'option.ts', 'capabilities.ts', 'offers.ts', 'parts/workspace-files', 'api', 'workspace', 'process',
    'http', 'schema', 'base',
  ],
  'parts/forms': ['part.ts', 'api', 'settings', 'schema'],
  'parts/hooks': [
    'part.ts', 'parts/patterns', 'agents/hooks.ts', 'conversation', 'process', 'schema', 'base',
  ],
  'parts/skills': [
    'part.ts', 'offers.ts', 'parts/workspace-files', 'agents', 'api', 'conversation/agent', 'workspace',
    'http', 'schema', 'base',
  ],
  'parts/extensions': [
    'part.ts', 'capabilities.ts', 'offers.ts', 'parts/skills', 'parts/workspace-files', 'api', 'conversation',
    'workspace', 'settings',
    'process', 'http', 'schema', 'base',
  ],
  'parts/subagents': [
    'part.ts', 'capabilities.ts', 'offers.ts', 'parts/skills', 'parts/workspace-files', 'agents/tool.ts', 'api',
    'conversation', 'workspace', 'schema', 'base',
  ],
  'parts/mcp': [
    'part.ts', 'option.ts', 'version.ts', 'agents', 'api', 'conversation', 'settings', 'process',
    'rpc', 'parts/net', 'http', 'schema', 'base',
  ],
  'parts/absent': ['part.ts', 'api', 'schema', 'base'],
  'parts/audit': ['part.ts', 'option.ts', 'storage', 'http', 'base'],
  'parts/backup': [
    'part.ts', 'finding.ts', 'option.ts', 'conversation/log', 'storage', 'process', 'schema', 'base',
  ],
  'parts/keys': ['access.ts', 'part.ts', 'finding.ts', 'api', 'storage', 'http', 'schema', 'base'],
  'parts/metrics': [
    'part.ts', 'capabilities.ts', 'server-load.ts', 'option.ts', 'version.ts', 'http', 'schema', 'base',
  ],
  'parts/lookups': ['part.ts', 'parts/net', 'settings', 'base'],
  'parts/models': ['part.ts', 'api', 'settings', 'http', 'schema', 'base'],
  'parts/profiles': ['part.ts', 'api', 'settings', 'http', 'schema', 'base'],
  'parts/console': [
    'part.ts', 'capabilities.ts', 'option.ts', 'parts/net', 'api', 'conversation', 'settings', 'storage', 'process',
    'http', 'schema', 'base',
  ],
  // The page in the browser: modules of its own, compiled without the types of Node.
  'parts/console/page': [],
  'parts/openai': [
    'part.ts', 'capabilities.ts', 'option.ts', 'api', 'conversation', 'settings', 'http', 'schema', 'base',
  ],
  'parts/webhooks': [
    'part.ts', 'server-load.ts', 'option.ts', 'api', 'conversation', 'settings', 'parts/net', 'http',
    'schema', 'base',
  ],
  'parts/retention': [
    'part.ts', 'capabilities.ts', 'finding.ts', 'offers.ts', 'option.ts', 'server-load.ts', 'conversation', 'storage',
    'http', 'base',
  ],
  'parts/docs': ['part.ts', 'http', 'schema', 'base'],
  'parts/install': [
    'part.ts', 'api', 'http', 'settings', 'storage', 'process', 'schema', 'base',
  ],
  'parts/sealing-keys': [
    'part.ts', 'sealed-stores.ts', 'conversation/log', 'settings', 'storage', 'process', 'schema', 'base',
  ],
  'parts/selftest': [
    'part.ts', 'option.ts', 'version.ts', 'settings', 'process', 'parts/net', 'base',
  ],
  'parts/doctor': [
    'part.ts', 'inspected-part.ts', 'finding.ts', 'parts/install', 'agents/acp/session', 'api',
    'sealed-stores.ts', 'config.ts', 'version.ts', 'settings', 'storage', 'process', 'rpc', 'http', 'schema',
    'base',
  ],
  // Code that several parts share and the core does not use: folders without a description.
  'parts/net': ['base'],
  'parts/patterns': ['base'],
  'parts/workspace-files': ['base'],
  'parts/demo/part.ts': ['part.ts', 'agents/acp/session/demo-modes.ts'],
  // A program of its own that only happens to be shipped with the server; its name and modes are known to both.
  'parts/demo': ['agents/acp/session/demo-modes.ts', 'rpc', 'base'],
  'agents/acp/session/demo-modes.ts': [],
  // Each of its folders knows only the folders of the rows below it.
  'conversation/list': ['conversation', 'storage', 'settings', 'schema', 'base'],
  conversation: [
    'conversation/extra', 'conversation/run', 'conversation/log', 'conversation/agent', 'storage', 'schema', 'base',
  ],
  'conversation/extra': ['conversation/run', 'conversation/log', 'conversation/agent', 'schema', 'base'],
  'conversation/run': ['conversation/log', 'conversation/agent', 'schema', 'base'],
  'conversation/log': ['conversation/agent', 'storage', 'schema', 'base'],
  'conversation/agent': ['settings', 'schema', 'base'],
  workspace: ['base'],
  settings: ['schema', 'base'],
  storage: ['schema', 'base'],
  schema: ['base'],
  http: ['base'],
  ws: ['base'],
  rpc: ['base'],
  process: ['base'],
  base: [],
}

/** Words that say nothing about the contents of a file. */
export const forbiddenNames: ReadonlySet<string> = new Set([
  'common', 'constants', 'core', 'helper', 'helpers', 'manager', 'misc', 'types', 'util', 'utils',
])

export const limits = {
  fileLines: 350,
  fileLinesWarning: 300,
  /** Tests are tables more than they are code. */
  testFileLines: 550,
  testFunctionLines: 110,
  functionLines: 60,
  columns: 120,
  /** Outside of src a literal of this width may make its line longer. */
  literalColumns: 80,
  headerLines: 1,
} as const

/** Lines written by hand that the core and each part may have. Raise one in a commit that says so. */
export const lineBudgets: Readonly<Record<string, number>> = {
  // Conversations below conversations, the plugins of a new conversation, the sessions of the console's page. Error
  // bodies and keys of other protocols.
  // Followers of conversations, for webhooks.
  // The library's handle and stores. Worktrees.
  // Observers of traffic, counts of the work, files of logs.
  // Rights of named keys and their restriction to a tag.
  // The host's own agent, models, tools and parts; the base path.
  // The drain at the end, ids with a shard, a base path.
  // The entries of the audit trail.
  // Conversations that retention removes, offers of parts for hosts and commands; who made a conversation, and limits.
  // Bytes on the streams of a command, repeated flags of a command, the record of a moved workspace.
  // Who made a conversation, and the refusals of limits. A cache that is replaced without a sync.
  core: 40_250,
  // Each part with the definitions and operations of its routes.
  absent: 100,
  // With the reader and the command that prints the trail.
  audit: 480,
  // Backup and restore: folders and tar archives, one moment, cuts of logs, moved workspaces, the newest backup's age.
  backup: 2_170,
  // With the end of a single command.
  bash: 780,
  // With the gate between Chromium and the network.
  browser: 3_150,
  // Models and tools of the embedding program.
  // With answers that are split when the user writes meanwhile.
  builtin: 10_690,
  // Most of it is the page in the browser. With the bar that tells an outage, and failed loads.
  console: 9_500,
  demo: 600,
  docs: 200,
  // With routes for clients, as the first steps of the console need them.
  // With findings for operators.
  doctor: 800,
  // Readers of zip and tar, the shelves of installed skills and plugins, plugins.
  extensions: 2_480,
  // With the admission of uploads.
  files: 1_020,
  forms: 290,
  // Worktrees of conversations; the work of a folder as a patch or an archive.
  git: 1_435,
  hooks: 600,
  // With installations that clients begin.
  install: 1_320,
  // The command, the files of keys and who holds them. With limits.
  keys: 750,
  lookups: 40,
  mcp: 3_480,
  metrics: 600,
  models: 480,
  openai: 715,
  // Every outgoing HTTP request.
  net: 550,
  // Regular expressions of clients and models, in a thread with a deadline.
  patterns: 140,
  profiles: 800,
  // Which conversations go, when, and the command. Limits of the server and of named keys, and its measurement.
  retention: 1_000,
  // The command, and sealing all stored secrets again.
  'sealing-keys': 370,
  // Tries a copy of the program, with the list of things that a running server touches.
  selftest: 675,
  skills: 1_050,
  subagents: 850,
  // With the figures for the metrics.
  webhooks: 1_610,
  'workspace-files': 840,
}

/** Made by scripts: validators, types and the description of the interface, and the locks of agents. */
export function isGenerated(file: string): boolean {
  return file.startsWith('src/schema/generated/') || file.startsWith('src/parts/install/locks/') ||
    /^src\/parts\/[^/]+\/generated\.ts$/.test(file)
}
