/**
 * The powers: everything that can do harm, the modules and global names that reach it, and the only files that may.
 *
 * The table "Which file can do harm" of SECURITY.md is made of this one. `powers.ts` holds the source to it.
 */
/** The names of a module that a row is about. */
export type Names = readonly string[] | 'all'

/** Something that can do harm, by which doors it is reached, and the only files that may open one. */
export interface Power {
  /** As in the first column of SECURITY.md. */
  readonly power: string
  /** Modules of Node, and files of src that hand on a power, with the names that have it. */
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
      'src/parts/net/address.ts',
      'src/parts/browser/gate.ts',
      'src/parts/net/outbound.ts',
      // In the browser: to the server that the page came from.
      'src/parts/console/page/api.ts',
    ],
  },
  {
    power: 'Listen',
    modules: { 'node:http': ['createServer', 'Server'], 'node:net': ['createServer', 'Server'] },
    globals: [],
    // The gate: a loopback port by which the browser that we started reaches the network, and nothing else.
    files: ['src/http/server.ts', 'src/parts/browser/gate.ts'],
  },
  {
    // The doors: every other file gets at files through one of these.
    power: 'Open files by path',
    modules: { 'node:fs': 'all', 'node:fs/promises': 'all' },
    globals: [],
    files: [
      'src/base/own-files.ts',
      'src/base/read-files.ts',
      'src/cli/signals.ts',
      'src/parts/demo/tools.ts',
      'src/parts/workspace-files/directory-handle.ts',
      'src/parts/workspace-files/files.ts',
      'src/process/cgroup.ts',
      'src/process/lock-descriptor.ts',
      'src/storage/files.ts',
    ],
  },
  {
    power: 'Change files of the server',
    modules: {
      'src/base/own-files.ts': [
        'appendLoosely', 'appendNow', 'chmod', 'createFile', 'link', 'makeFolder', 'makeNewFolder',
        'makeTemporaryFolder', 'openNew', 'openToAppend', 'removeFile', 'removeTemporaryFiles', 'removeTree', 'rename',
        'replaceLoosely', 'rmdir', 'symlink', 'writeFileAtomically',
        'writeLoosely', 'writeNew', 'writeSynced',
      ],
      'src/base/json-file.ts': ['createJsonFile', 'writeJsonFile'],
    },
    globals: [],
    files: [
      'src/agents/acp/session/credential-files.ts',
      'src/agents/acp/session/launch.ts',
      'src/agents/acp/calls/observation-files.ts',
      'src/app.ts',
      'src/base/json-file.ts',
      'src/base/log-files.ts',
      'src/parts/audit/trail-log.ts',
      'src/parts/backup/backup-folder.ts',
      'src/parts/backup/last-backup.ts',
      'src/parts/backup/restore-folder.ts',
      'src/parts/backup/restore.ts',
      'src/parts/backup/staged.ts',
      'src/parts/backup/workspace-map.ts',
      'src/parts/bash/history.ts',
      'src/parts/browser/launch.ts',
      'src/parts/browser/recording.ts',
      'src/parts/builtin/tools/task-tracker.ts',
      'src/parts/builtin/tools/undo-history.ts',
      'src/parts/builtin/workspace/shell.ts',
      'src/parts/builtin/workspace/terminal-output.ts',
      'src/parts/console/sessions.ts',
      'src/parts/doctor/command.ts',
      'src/parts/doctor/routes.ts',
      'src/parts/extensions/archive/unpack.ts',
      'src/parts/extensions/shelf.ts',
      'src/parts/git/archive.ts',
      'src/parts/git/worktree-records.ts',
      'src/parts/git/worktrees.ts',
      'src/parts/install/folder.ts',
      'src/parts/install/install.ts',
      'src/parts/install/npm.ts',
      'src/parts/install/record.ts',
      'src/parts/keys/key-files.ts',
      'src/parts/selftest/command.ts',
      'src/parts/webhooks/journal.ts',
      'src/parts/webhooks/remains.ts',
      'src/parts/webhooks/start.ts',
      'src/process/lock-file.ts',
      'src/process/lock.ts',
      'src/process/secret-folder.ts',
      'src/settings/keys.ts',
      'src/settings/seals.ts',
      'src/settings/stored-file.ts',
      'src/storage/catalogue.ts',
      'src/storage/data-folder-claim.ts',
      'src/storage/layout.ts',
      'src/storage/list-file.ts',
      'src/storage/reserve.ts',
      'src/storage/state-file.ts',
      'src/workspace/git.ts',
      'src/workspace/place.ts',
    ],
  },
  {
    power: 'Read files',
    modules: { 'src/base/read-files.ts': 'all', 'src/base/json-file.ts': ['readJsonFile'] },
    globals: [],
    files: [
      'src/agents/acp/session/credential-files.ts',
      'src/agents/acp/session/program.ts',
      'src/app.ts',
      'src/base/json-file.ts',
      'src/cli/main.ts',
      'src/cli/stack-places.ts',
      'src/cli/verify.ts',
      'src/loaded-parts.ts',
      'src/parts/audit/trail-files.ts',
      'src/parts/backup/backup-folder.ts',
      'src/parts/backup/backup.ts',
      'src/parts/backup/commands.ts',
      'src/parts/backup/contents.ts',
      'src/parts/backup/last-backup.ts',
      'src/parts/backup/moment.ts',
      'src/parts/backup/restore-folder.ts',
      'src/parts/backup/restore.ts',
      'src/parts/backup/workspace-map.ts',
      'src/parts/bash/history.ts',
      'src/parts/browser/program.ts',
      'src/parts/builtin/tools/task-tracker.ts',
      'src/parts/builtin/tools/undo-history.ts',
      'src/parts/builtin/workspace/shell.ts',
      'src/parts/console/assets.ts',
      'src/parts/console/sessions.ts',
      'src/parts/doctor/machine.ts',
      'src/parts/doctor/operation.ts',
      'src/parts/extensions/installer.ts',
      'src/parts/extensions/shelf.ts',
      'src/parts/git/worktree-records.ts',
      'src/parts/git/worktrees.ts',
      'src/parts/install/differences.ts',
      'src/parts/install/digests.ts',
      'src/parts/install/folder.ts',
      'src/parts/install/install.ts',
      'src/parts/install/installed-agents.ts',
      'src/parts/install/record.ts',
      'src/parts/keys/key-files.ts',
      'src/parts/keys/named-keys.ts',
      'src/parts/metrics/process-figures.ts',
      'src/parts/retention/folder-size.ts',
      'src/parts/selftest/command.ts',
      'src/parts/selftest/observed.ts',
      'src/parts/selftest/server-process.ts',
      'src/parts/webhooks/journal.ts',
      'src/parts/webhooks/remains.ts',
      'src/parts/workspace-files/directory.ts',
      'src/parts/workspace-files/paths.ts',
      'src/process/lock-file.ts',
      'src/process/lock.ts',
      'src/process/proc.ts',
      'src/process/secret-folder.ts',
      'src/process/spawn-error.ts',
      'src/sealed-stores.ts',
      'src/settings/keys.ts',
      'src/settings/login.ts',
      'src/settings/providers-file.ts',
      'src/settings/stored-file.ts',
      'src/storage/catalogue.ts',
      'src/storage/data-folder-claim.ts',
      'src/storage/list-file.ts',
      'src/storage/reserve.ts',
      'src/storage/state-file.ts',
      'src/storage/verify.ts',
      'src/workspace/git.ts',
      'src/workspace/place.ts',
    ],
  },
  {
    // An expression from outside may take for ever, and ending its thread is the only way to stop it.
    power: 'Run threads',
    modules: { 'node:worker_threads': 'all' },
    globals: [],
    files: ['src/parts/patterns/pattern-thread.ts', 'src/parts/patterns/pattern-worker.ts'],
  },
  {
    power: 'Read the environment, end the server',
    modules: { 'node:os': ['homedir', 'tmpdir', 'userInfo'] },
    globals: ['process.*'],
    files: [
      'src/cli/config.ts',
      'src/cli/key.ts',
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
      'src/base/own-files.ts',
      'src/http/auth.ts',
      'src/http/workspace-sessions.ts',
      'src/parts/backup/manifest.ts',
      'src/parts/backup/target.ts',
      'src/parts/console/secret.ts',
      'src/parts/install/digests.ts',
      'src/parts/keys/key-text.ts',
      'src/parts/mcp/oauth/authorization.ts',
      'src/parts/mcp/start.ts',
      'src/parts/webhooks/signature.ts',
      'src/parts/sealing-keys/resealing.ts',
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

/**
 * The modules and names that every file may use. A module or name that is neither here nor above may be used by nobody.
 */
export const harmlessModules: Readonly<Record<string, Names>> = {
  'node:async_hooks': 'all',
  'node:buffer': 'all',
  'node:crypto': ['randomUUID'],
  'node:events': 'all',
  'node:fs': ['constants'],
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

/** Members of `process` that describe the running process, and change nothing. */
export const harmlessProcessMembers: ReadonlySet<string> = new Set([
  'arch', 'cpuUsage', 'emitWarning', 'execPath', 'geteuid', 'getuid', 'hrtime', 'memoryUsage', 'nextTick', 'pid',
  'platform', 'uptime', 'version', 'versions',
])

/** Words that stand for code made at run time, or for a way round these tables. Nobody may use them. */
export const forbiddenGlobals: ReadonlySet<string> = new Set([
  'Function', 'Reflect', 'WebAssembly', 'eval', 'globalThis', 'require',
])
