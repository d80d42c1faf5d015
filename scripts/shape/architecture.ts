/**
 * The architecture as data: who may import whom, which file can do harm, and how large things may grow.
 *
 * This is the one place that says so; `npm run check:shape` holds src/ against it, and SECURITY.md shows the second
 * table to its readers. Powers are granted to single files. Whoever widens a row changes
 * what a security review has to cover, and should say why in the same commit.
 */

/**
 * Folder or file of src -> the folders and files it may import, besides itself. The most specific row counts.
 * Outermost first: `cli -> app -> {api, agents, parts} -> conversation -> {storage, settings} -> schema -> base`.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  'index.ts': ['agent-server.ts', 'all-parts.ts', 'version.ts', 'config.ts', 'schema', 'base'],
  cli: [
    'agent-server.ts', 'all-parts.ts', 'part.ts', 'sealed-stores.ts', 'resealing.ts', 'version.ts', 'config.ts',
    'option.ts', 'settings', 'storage', 'process', 'schema', 'base',
  ],
  'agent-server.ts': [
    'app.ts', 'all-parts.ts', 'server.ts', 'config.ts', 'conversation', 'http', 'process', 'schema', 'base',
  ],
  // The list of parts. Deleting a line of parts.ts leaves its part out.
  'all-parts.ts': ['parts.ts', 'part.ts', 'option.ts'],
  'parts.ts': ['part.ts', 'parts'],
  'server.ts': ['app.ts', 'optional-offers.ts', 'loaded-parts.ts', 'version.ts', 'config.ts', 'api', 'http', 'base'],
  'app.ts': [
    'agent-maker.ts', 'optional-offers.ts', 'loaded-parts.ts', 'capabilities.ts', 'part.ts', 'sealed-stores.ts',
    'config.ts', 'agents', 'conversation', 'workspace', 'storage', 'settings', 'process', 'net', 'schema', 'base',
  ],
  'resealing.ts': [
    'sealed-stores.ts', 'part.ts', 'config.ts', 'conversation', 'settings', 'storage', 'process', 'base',
  ],
  'sealed-stores.ts': ['part.ts', 'config.ts', 'process', 'settings', 'base'],
  'agent-maker.ts': [
    'capabilities.ts', 'offers.ts', 'version.ts', 'config.ts', 'agents', 'conversation', 'settings', 'process',
    'schema', 'base',
  ],
  'optional-offers.ts': ['loaded-parts.ts', 'offers.ts', 'base'],
  'description.ts': ['base'],
  'loaded-parts.ts': ['access.ts', 'description.ts', 'capabilities.ts', 'offers.ts', 'part.ts', 'http', 'ws', 'base'],
  // The contract between the core and its parts.
  'part.ts': [
    'access.ts', 'capabilities.ts', 'finding.ts', 'offers.ts', 'option.ts', 'config.ts', 'api', 'http', 'process',
    'settings', 'ws',
  ],
  'capabilities.ts': ['offers.ts', 'config.ts', 'conversation', 'http', 'process', 'settings', 'schema', 'base'],
  'offers.ts': ['agents', 'conversation', 'settings', 'schema', 'base'],
  'finding.ts': [],
  'version.ts': [],
  'config.ts': ['option.ts', 'http', 'base'],
  'option.ts': ['base'],
  'access.ts': [],
  api: ['access.ts', 'conversation', 'settings', 'http', 'ws', 'schema', 'base'],
  'agents/hooks.ts': ['conversation', 'schema'],
  'agents/skills.ts': ['agents/tool.ts', 'conversation', 'schema'],
  'agents/tool.ts': ['schema', 'base'],
  'agents/acp': [
    'agents/acp/demo-modes.ts', 'offers.ts', 'conversation', 'settings', 'process', 'rpc', 'schema', 'base',
  ],
  'parts/builtin': [
    'part.ts', 'capabilities.ts', 'option.ts', 'agents', 'api', 'conversation', 'workspace', 'settings', 'process',
    'net', 'schema', 'base',
  ],
  'parts/browser': [
    'part.ts', 'capabilities.ts', 'finding.ts', 'option.ts', 'parts/builtin', 'agents', 'process', 'rpc', 'net',
    'schema', 'base',
  ],
  'parts/files': [
    'part.ts', 'capabilities.ts', 'option.ts', 'api', 'conversation', 'workspace', 'settings', 'http', 'schema',
    'base',
  ],
  'parts/bash': ['part.ts', 'capabilities.ts', 'option.ts', 'api', 'process', 'http', 'ws', 'schema', 'base'],
  'parts/git': ['part.ts', 'capabilities.ts', 'api', 'workspace', 'process', 'http', 'base'],
  'parts/hooks': [
    'part.ts', 'capabilities.ts', 'agents/hooks.ts', 'conversation', 'workspace', 'process', 'schema', 'base',
  ],
  'parts/skills': [
    'part.ts', 'capabilities.ts', 'offers.ts', 'agents', 'api', 'conversation', 'workspace', 'http', 'schema', 'base',
  ],
  'parts/mcp': [
    'part.ts', 'capabilities.ts', 'option.ts', 'version.ts', 'agents', 'api', 'conversation', 'settings', 'process',
    'rpc', 'net', 'http', 'schema', 'base',
  ],
  'parts/absent': ['part.ts', 'api', 'base'],
  'parts/models': ['part.ts', 'capabilities.ts', 'offers.ts', 'api', 'settings', 'http', 'schema', 'base'],
  'parts/profiles': [
    'part.ts', 'capabilities.ts', 'offers.ts', 'api', 'conversation', 'settings', 'http', 'schema', 'base',
  ],
  'parts/docs': ['part.ts', 'capabilities.ts', 'http', 'base'],
  'parts/install': ['part.ts', 'capabilities.ts', 'settings', 'storage', 'process', 'base'],
  'parts/doctor': [
    'part.ts', 'finding.ts', 'parts/install', 'agents', 'sealed-stores.ts', 'config.ts', 'version.ts', 'settings',
    'storage', 'process', 'base',
  ],
  'parts/demo/part.ts': ['part.ts', 'agents/acp/demo-modes.ts'],
  // A program of its own that only happens to be shipped with the server; its name and modes are known to both.
  'parts/demo': ['agents/acp/demo-modes.ts', 'rpc', 'base'],
  'agents/acp/demo-modes.ts': [],
  conversation: ['storage', 'settings', 'schema', 'base'],
  workspace: ['process', 'base'],
  settings: ['schema', 'base'],
  storage: ['schema', 'base'],
  schema: ['base'],
  http: ['base'],
  ws: ['base'],
  net: ['base'],
  rpc: ['base'],
  process: ['base'],
  base: [],
}

/** The names of a module that a row is about. */
export type Names = readonly string[] | 'all'

/** Something that can do harm, by which doors it is reached, and the only files that may open one. */
export interface Power {
  /** As in the first column of SECURITY.md. */
  readonly power: string
  readonly modules: Readonly<Record<string, Names>>
  /** Global names; `process.*` stands for every member of process that no other row and no list below names. */
  readonly globals: readonly string[]
  readonly files: readonly string[]
}

export const powers: readonly Power[] = [
  {
    power: 'Start and end programs',
    modules: { 'node:child_process': 'all' },
    globals: ['process.kill'],
    // The demonstration agent is a process of its own: it is an agent, and agents run commands.
    files: [
      'src/parts/demo/command.ts',
      'src/process/child.ts',
      'src/process/lock-descriptor.ts',
      'src/process/proc.ts',
    ],
  },
  {
    power: 'Send requests',
    modules: {
      'node:http': ['request', 'get', 'Agent'],
      'node:https': ['request', 'get', 'Agent'],
      'node:net': ['connect', 'createConnection', 'Socket'],
      'node:tls': ['connect'],
      'node:dns': 'all',
      'node:dns/promises': 'all',
      'node:os': ['networkInterfaces'],
    },
    globals: ['fetch', 'WebSocket'],
    files: [
      'src/net/address.ts',
      'src/net/gate.ts',
      'src/net/outbound.ts',
    ],
  },
  {
    power: 'Listen',
    modules: { 'node:http': ['createServer', 'Server'], 'node:net': ['createServer', 'Server'] },
    globals: [],
    // The gate: a loopback port by which the browser that we started reaches the network, and nothing else.
    files: ['src/http/server.ts', 'src/net/gate.ts'],
  },
  {
    power: 'Read and write files',
    modules: { 'node:fs': 'all', 'node:fs/promises': 'all' },
    globals: [],
    files: [
      'src/agents/acp/credential-files.ts',
      'src/agents/acp/launch.ts',
      'src/agents/acp/observation-files.ts',
      'src/agents/acp/program.ts',
      'src/base/json-file.ts',
      'src/cli/main.ts',
      'src/cli/signals.ts',
      'src/cli/stack-places.ts',
      'src/cli/verify.ts',
      'src/description.ts',
      'src/parts/bash/history.ts',
      'src/parts/browser/launch.ts',
      'src/parts/browser/program.ts',
      'src/parts/browser/recording.ts',
      'src/parts/builtin/tools/task-tracker.ts',
      'src/parts/builtin/tools/undo-history.ts',
      'src/parts/builtin/workspace/shell.ts',
      'src/parts/builtin/workspace/terminal-output.ts',
      'src/parts/demo/tools.ts',
      'src/parts/doctor/command.ts',
      'src/parts/doctor/machine.ts',
      'src/parts/install/differences.ts',
      'src/parts/install/digests.ts',
      'src/parts/install/folder.ts',
      'src/parts/install/install.ts',
      'src/parts/install/installed-agents.ts',
      'src/parts/install/lock.ts',
      'src/parts/install/npm.ts',
      'src/parts/install/record.ts',
      'src/process/cgroup.ts',
      'src/process/lock-descriptor.ts',
      'src/process/lock-file.ts',
      'src/process/lock.ts',
      'src/process/proc.ts',
      'src/process/secret-folder.ts',
      'src/process/spawn-error.ts',
      'src/settings/keys.ts',
      'src/storage/catalogue.ts',
      'src/storage/data-folder-claim.ts',
      'src/storage/files.ts',
      'src/storage/list-file.ts',
      'src/storage/reserve.ts',
      'src/storage/state-file.ts',
      'src/storage/verify.ts',
      'src/workspace/directory-handle.ts',
      'src/workspace/directory.ts',
      'src/workspace/files.ts',
      'src/workspace/git.ts',
      'src/workspace/paths.ts',
      'src/workspace/place.ts',
    ],
  },
  {
    // An expression from outside may take for ever, and ending its thread is the only way to stop it.
    power: 'Run threads',
    modules: { 'node:worker_threads': 'all' },
    globals: [],
    files: ['src/workspace/pattern-thread.ts', 'src/workspace/pattern-worker.ts'],
  },
  {
    power: 'Read the environment, end the server',
    modules: { 'node:os': ['homedir', 'tmpdir', 'userInfo'] },
    globals: ['process.*'],
    files: [
      'src/cli/key.ts',
      'src/cli/keys.ts',
      'src/cli/main.ts',
      'src/cli/part-command.ts',
      'src/cli/serve.ts',
      'src/cli/signals.ts',
      'src/cli/verify.ts',
      'src/parts/demo/main.ts',
    ],
  },
  {
    power: 'Cryptography',
    // randomUUID is not here: it makes names, and nothing that is secret may be made with it.
    modules: {
      'node:crypto': [
        'createCipheriv', 'createDecipheriv', 'createHash', 'createHmac', 'hash', 'randomBytes', 'randomFillSync',
        'scrypt', 'timingSafeEqual',
      ],
    },
    globals: ['crypto'],
    files: [
      'src/app.ts',
      'src/base/json-file.ts',
      'src/http/auth.ts',
      'src/http/workspace-sessions.ts',
      'src/parts/install/digests.ts',
      'src/parts/mcp/oauth/authorization.ts',
      'src/parts/mcp/start.ts',
      'src/resealing.ts',
      'src/sealed-stores.ts',
      'src/settings/cipher.ts',
      'src/settings/keys.ts',
      'src/storage/catalogue.ts',
      'src/storage/chain.ts',
      'src/storage/data-folder-claim.ts',
      'src/storage/reserve.ts',
      'src/ws/handshake.ts',
    ],
  },
]

/** What every file may use. A module or name that is neither here nor above may be used by nobody. */
export const harmlessModules: Readonly<Record<string, Names>> = {
  'node:async_hooks': 'all',
  'node:buffer': 'all',
  'node:crypto': ['randomUUID'],
  'node:events': 'all',
  'node:http': ['IncomingMessage', 'METHODS', 'STATUS_CODES', 'ServerResponse'],
  'node:net': ['BlockList', 'isIP', 'isIPv4', 'isIPv6'],
  'node:os': ['EOL', 'availableParallelism', 'constants', 'hostname', 'platform'],
  'node:path': 'all',
  'node:perf_hooks': 'all',
  'node:stream': 'all',
  'node:stream/promises': 'all',
  'node:string_decoder': 'all',
  'node:timers': 'all',
  'node:timers/promises': 'all',
  'node:tty': ['isatty'],
  'node:url': 'all',
  'node:util': 'all',
  'node:zlib': 'all',
}

/** Members of process that tell what runs, and change nothing. */
export const harmlessProcessMembers: ReadonlySet<string> = new Set([
  'arch', 'emitWarning', 'execPath', 'getuid', 'hrtime', 'memoryUsage', 'nextTick', 'pid', 'platform', 'uptime',
  'version', 'versions',
])

/** Words that stand for code made at run time, or for a way round these tables. Nobody may use them. */
export const forbiddenGlobals: ReadonlySet<string> = new Set([
  'Function', 'WebAssembly', 'eval', 'globalThis', 'require',
])

/** Words that say nothing about what a file holds. */
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
  // Routes, uploads and sockets of parts.
  core: 38_700,
  absent: 70,
  bash: 680,
  browser: 2_900,
  builtin: 9_700,
  demo: 600,
  docs: 200,
  doctor: 500,
  files: 850,
  git: 500,
  hooks: 600,
  install: 1_200,
  mcp: 3_400,
  models: 420,
  profiles: 650,
  skills: 1_000,
}

/** Made by scripts/generate, compared byte for byte by its own check, and read by nobody line by line. */
export function isGenerated(file: string): boolean {
  return file.startsWith('src/schema/generated/')
}
