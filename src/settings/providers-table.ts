/**
 * The provider table: facts about the agents that this server was tested with (decisions 22).
 *
 * The first three entries are the presets of the wire contract. A command belongs to the first entry that fits it
 * (`detectProvider`). The facts were measured on the pinned versions.
 */
import { blankProvider, type Provider } from './provider.ts'

/** Commands that Claude Code and Qwen Code run without asking in their mode `default`, as measured. */
const readingCommands = [
  'ls', 'cat', 'pwd', 'echo', 'printf', 'head', 'tail', 'wc', 'grep', 'rg', 'find', 'tree', 'sort', 'cut', 'column',
  'sed', 'stat', 'du', 'df', 'ps', 'which', 'whoami', 'basename', 'dirname', 'git status', 'git log', 'git diff',
  'git show', 'git blame', 'git ls-files', 'git rev-parse', 'git remote -v',
]
/** Further commands that Claude Code runs without asking in its mode `default`, as measured. */
const moreOfClaude = [
  'cd .', 'date', 'sleep', 'true', 'test', '[', 'seq', 'file', 'id', 'uname', 'diff', 'cmp', 'jq', 'nl', 'tr', 'tac',
  'rev', 'paste', 'realpath', 'readlink', 'type', 'egrep', 'md5sum', 'sha256sum', 'hexdump', 'od', 'strings', 'uptime',
  'free', 'locale', 'groups', 'nproc', 'cal', 'arch',
  'git stash list', 'git config --get', 'node --version', 'python3 --version',
]

export const builtInProviders: readonly Provider[] = [
  {
    name: 'claude-code',
    displayName: 'Claude Code',
    command: ['npx', '-y', '@agentclientprotocol/claude-agent-acp@0.100.0'],
    packageName: '@agentclientprotocol/claude-agent-acp',
    version: '0.100.0',
    binary: 'claude-agent-acp',
    programs: {},
    installCommand: '',
    prefix: 'claude-agent',
    apiKeyVariable: 'ANTHROPIC_API_KEY',
    otherKeyVariables: [],
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    configDirVariable: 'CLAUDE_CONFIG_DIR',
    dataDirVariable: 'CLAUDE_CONFIG_DIR',
    homeVariable: 'HOME',
    variables: [
      'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL', 'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_EXECUTABLE', 'CLAUDE_CODE_MAX_RETRIES', 'IS_SANDBOX',
    ],
    // Turns off telemetry, error reports and self-updates.
    defaults: { DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    loginCommand: 'claude auth login',
    login: {
      folder: '.claude',
      file: '.credentials.json',
      // The config-directory variable moves settings and history, not the token (contract/spec: Credentials 6).
      followsConfigDir: false,
      member: 'claudeAiOauth',
      accessTokens: ['accessToken'],
      refreshTokens: ['refreshToken'],
      expiry: 'expiresAt',
      tokenVariables: ['CLAUDE_CODE_OAUTH_TOKEN'],
      keychain: true,
      choice: null,
    },
    baseUrlVia: 'environment',
    publicBaseUrl: null,
    configDirStripsKey: true,
    keyMethod: null,
    loginMethod: null,
    defaultModel: 'opus[1m]',
    models: ['default', 'opus[1m]', 'claude-opus-5', 'sonnet', 'haiku'],
    modes: {
      asking: 'default',
      open: 'bypassPermissions',
      moreOpen: ['acceptEdits', 'auto', 'bypassPermissions'],
      closed: ['plan'],
      unasked: [...readingCommands, ...moreOfClaude],
    },
  },
  {
    name: 'codex',
    displayName: 'Codex',
    command: ['npx', '-y', '@agentclientprotocol/codex-acp@2.6.0'],
    packageName: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    binary: 'codex-acp',
    programs: {},
    installCommand: '',
    prefix: 'codex-acp',
    apiKeyVariable: 'OPENAI_API_KEY',
    otherKeyVariables: ['CODEX_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
    configDirVariable: 'CODEX_HOME',
    dataDirVariable: 'CODEX_HOME',
    homeVariable: 'HOME',
    variables: [
      'OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL', 'CODEX_HOME', 'CODEX_CONFIG', 'CODEX_PATH',
      'MODEL_PROVIDER',
    ],
    // Prevents a sign-in through a browser on the server's machine.
    defaults: { NO_BROWSER: '1' },
    loginCommand: 'codex login',
    login: {
      folder: '.codex',
      file: 'auth.json',
      followsConfigDir: true,
      // Only `tokens` is a login with a subscription. Beside it the file may have an API key.
      member: 'tokens',
      accessTokens: ['access_token'],
      refreshTokens: ['refresh_token'],
      expiry: null,
      tokenVariables: [],
      keychain: false,
      choice: null,
    },
    baseUrlVia: 'codex-config',
    // If there is an API key and no other base URL, `codexPlan` writes this URL and the name of the key's variable to
    // CODEX_CONFIG. Then the program needs no `authenticate`, which would store the key in the user's login file.
    publicBaseUrl: 'https://api.openai.com/v1',
    configDirStripsKey: false,
    keyMethod: 'api-key',
    loginMethod: 'chat-gpt',
    defaultModel: 'gpt-5.5',
    models: ['gpt-5.6', 'gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4', 'gpt-5.4-mini'],
    modes: {
      asking: 'read-only',
      open: 'agent-full-access',
      moreOpen: ['workspace-write', 'agent', 'agent-full-access'],
      // In "read-only" the program runs every command without asking, in a sandbox without write access or network.
      // It asks when its model wants to leave the sandbox.
      unasked: ['*'],
    },
  },
  {
    name: 'gemini-cli',
    displayName: 'Gemini CLI',
    command: ['npx', '-y', '@google/gemini-cli@0.61.0', '--acp'],
    packageName: '@google/gemini-cli',
    version: '0.61.0',
    binary: 'gemini',
    programs: {},
    installCommand: '',
    prefix: 'gemini-cli',
    apiKeyVariable: 'GEMINI_API_KEY',
    otherKeyVariables: [],
    baseUrlVariable: 'GEMINI_BASE_URL',
    configDirVariable: 'HOME',
    dataDirVariable: 'GEMINI_CLI_HOME',
    homeVariable: 'GEMINI_CLI_HOME',
    variables: [
      'GEMINI_API_KEY', 'GEMINI_BASE_URL', 'GEMINI_MODEL', 'GEMINI_CLI_HOME', 'GOOGLE_API_KEY',
      'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION',
    ],
    // TRUST_WORKSPACE: in an untrusted folder the program refuses modes and silently omits MCP servers. NO_RELAUNCH
    // keeps the program a single process.
    defaults: {
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
      NO_BROWSER: 'true',
    },
    loginCommand: 'gemini',
    login: {
      folder: '.gemini',
      file: 'oauth_creds.json',
      followsConfigDir: false,
      member: null,
      accessTokens: ['access_token'],
      refreshTokens: ['refresh_token'],
      expiry: 'expiry_date',
      tokenVariables: [],
      keychain: false,
      // The sign-in type that the user chose (contract/spec: Credentials 7).
      choice: { file: 'settings.json', path: ['security', 'auth', 'selectedType'], login: ['oauth-personal'] },
    },
    baseUrlVia: 'gateway',
    publicBaseUrl: null,
    configDirStripsKey: false,
    // `authenticate` would rewrite the user's settings file. Without a base URL the program signs in without it.
    keyMethod: null,
    loginMethod: null,
    defaultModel: 'auto',
    models: [
      'auto', 'gemini-3.1-pro-preview', 'gemini-3-pro-preview', 'gemini-3-flash-preview', 'gemini-3.1-flash-lite',
      'gemini-2.5-pro', 'gemini-2.5-flash',
    ],
    modes: {
      asking: 'default',
      open: 'yolo',
      moreOpen: ['autoEdit', 'yolo'],
      closed: ['plan'],
      // Measured: each of these commands runs without asking when it is the whole command line.
      unasked: [
        'ls', 'pwd', 'echo', 'find', 'tail', 'uniq', 'cut', 'stat', 'which', 'id', 'uname', 'seq', 'whoami', 'true',
        'git status', 'git log', 'git diff', 'git show',
      ],
    },
  },
  {
    ...blankProvider('opencode'),
    displayName: 'opencode',
    // For half an hour the program retries a failed model call and sends no update. The flags log each retry to stderr.
    command: ['npx', '-y', 'opencode-ai@1.18.33', 'acp', '--print-logs', '--log-level', 'WARN'],
    packageName: 'opencode-ai',
    version: '1.18.33',
    binary: 'opencode',
    // The baseline builds run on processors without AVX2.
    programs: {
      'linux-x64': 'opencode-linux-x64-baseline/bin/opencode',
      'linux-arm64': 'opencode-linux-arm64/bin/opencode',
      'darwin-x64': 'opencode-darwin-x64-baseline/bin/opencode',
      'darwin-arm64': 'opencode-darwin-arm64/bin/opencode',
    },
    prefix: 'opencode',
    configDirVariable: 'OPENCODE_CONFIG_DIR',
    dataDirVariable: 'XDG_DATA_HOME',
    variables: [
      'OPENCODE_API_KEY', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT', 'OPENCODE_CONFIG_DIR', 'OPENCODE_PERMISSION',
      'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY',
    ],
    defaults: {
      // Without these rules the program never asks. Of two matching rules the last applies.
      OPENCODE_PERMISSION: JSON.stringify({
        '*': 'ask',
        read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask' },
        glob: 'allow',
        grep: 'allow',
        todowrite: 'allow',
      }),
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      OPENCODE_DISABLE_SHARE: 'true',
      OPENCODE_DISABLE_LSP_DOWNLOAD: 'true',
    },
    loginCommand: 'opencode auth login',
    // The program's configuration decides for which actions "build" asks. No mode asks less.
    modes: { asking: 'build', open: 'build', moreOpen: [], closed: ['plan'] },
  },
  {
    ...blankProvider('qwen-code'),
    displayName: 'Qwen Code',
    command: ['npx', '-y', '@qwen-code/qwen-code@0.24.4', '--acp'],
    packageName: '@qwen-code/qwen-code',
    version: '0.24.4',
    binary: 'qwen',
    prefix: 'qwen-code',
    apiKeyVariable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    variables: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL', 'DASHSCOPE_API_KEY'],
    loginCommand: 'qwen',
    // The program starts in "auto", in which a model decides when to ask.
    modes: {
      asking: 'default',
      open: 'yolo',
      moreOpen: ['auto-edit', 'auto', 'yolo'],
      closed: ['plan'],
      unasked: [...readingCommands, 'cd', 'uniq', 'awk', 'printenv'],
    },
  },
  {
    ...blankProvider('copilot'),
    displayName: 'GitHub Copilot CLI',
    command: ['npx', '-y', '@github/copilot@1.0.102', '--acp'],
    packageName: '@github/copilot',
    version: '1.0.102',
    binary: 'copilot',
    prefix: 'copilot',
    apiKeyVariable: 'COPILOT_PROVIDER_API_KEY',
    baseUrlVariable: 'COPILOT_PROVIDER_BASE_URL',
    configDirVariable: 'COPILOT_HOME',
    dataDirVariable: 'COPILOT_HOME',
    variables: [
      'COPILOT_PROVIDER_API_KEY', 'COPILOT_PROVIDER_BASE_URL', 'COPILOT_PROVIDER_TYPE', 'COPILOT_PROVIDER_WIRE_API',
      'COPILOT_MODEL', 'COPILOT_HOME', 'COPILOT_OFFLINE', 'COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN',
    ],
    defaults: { COPILOT_AUTO_UPDATE: 'false' },
    loginCommand: 'copilot login',
    modes: {
      asking: 'https://agentclientprotocol.com/protocol/session-modes#agent',
      open: 'https://agentclientprotocol.com/protocol/session-modes#autopilot',
      moreOpen: ['https://agentclientprotocol.com/protocol/session-modes#autopilot'],
      closed: ['https://agentclientprotocol.com/protocol/session-modes#plan'],
    },
  },
  {
    ...blankProvider('cline'),
    displayName: 'Cline',
    command: ['npx', '-y', 'cline@3.0.65', '--acp'],
    packageName: 'cline',
    version: '3.0.65',
    binary: 'cline',
    programs: {
      'linux-x64': '@cline/cli-linux-x64/bin/cline',
      'linux-arm64': '@cline/cli-linux-arm64/bin/cline',
      'darwin-x64': '@cline/cli-darwin-x64/bin/cline',
      'darwin-arm64': '@cline/cli-darwin-arm64/bin/cline',
    },
    prefix: 'cline',
    apiKeyVariable: 'CLINE_API_KEY',
    dataDirVariable: 'CLINE_DATA_DIR',
    // No variable sets a base URL: the program has it in its own settings (`cline auth --baseurl`).
    variables: ['CLINE_API_KEY', 'CLINE_PROVIDER', 'CLINE_MODEL', 'CLINE_DATA_DIR'],
    loginCommand: 'cline auth',
    // Both modes ask while the program's option "auto_approve" is off, which is the default.
    modes: { asking: 'act', open: 'act', moreOpen: [], closed: ['plan'] },
  },
  {
    ...blankProvider('openhands'),
    displayName: 'OpenHands CLI',
    command: ['openhands', 'acp'],
    version: '1.16.0',
    binary: 'openhands',
    installCommand: 'uv tool install openhands==1.16.0',
    prefix: 'openhands',
    // Over ACP the program reads no variable for a key, an address or a model.
    configDirVariable: 'OPENHANDS_PERSISTENCE_DIR',
    dataDirVariable: 'OPENHANDS_PERSISTENCE_DIR',
    variables: ['OPENHANDS_PERSISTENCE_DIR'],
    // With these defaults the program fetches no price list, but uses that of its package, and prints no banner.
    defaults: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', OPENHANDS_SUPPRESS_BANNER: '1' },
    loginCommand: 'openhands',
    modes: { asking: 'always-ask', open: 'always-approve', moreOpen: ['always-approve', 'llm-approve'] },
  },
]
