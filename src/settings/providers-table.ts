/**
 * The three built-in ACP providers as data (spec: providers A, B, C; contract/settings.md 5; decisions 22).
 *
 * The order is the order of detection. The pinned versions are the ones that this server was driven with; what is
 * known of the programs (variables, login files, modes) was measured on them. `--providers FILE` adds or replaces
 * entries without a new release, see `providers-file`.
 */

export interface Provider {
  /** The value of `acp_server`. */
  readonly name: string
  readonly displayName: string
  /** What starts it when `acp_command` is empty. */
  readonly command: readonly string[]
  /** The npm package and version in that command, and the program it installs. */
  readonly packageName: string
  readonly version: string
  readonly binary: string
  /** How a command word (contract/settings.md 5) and the agent's own name begin. */
  readonly prefix: string
  readonly apiKeyVariable: string
  /** Older or second names of the API key variable; the rules for the key hold for them too. */
  readonly otherKeyVariables: readonly string[]
  readonly baseUrlVariable: string
  readonly configDirVariable: string
  /** What moves all that the program keeps to a folder of the conversation (`acp_isolate_data_dir`). */
  readonly dataDirVariable: string
  /** What the program takes for the home directory where its own files are; `HOME` where this is not set. */
  readonly homeVariable: string
  /** What the child gets from the server's environment besides the base set. */
  readonly variables: readonly string[]
  /** What the child gets besides where neither the server's environment nor a secret says otherwise. */
  readonly defaults: Readonly<Record<string, string>>
  /** What a user runs to sign in. */
  readonly loginCommand: string
  /** How a login is recognised, see `login`; null for a provider without one. */
  readonly login: LoginRule | null
  /** How a base URL reaches the program, see `credentials`. */
  readonly baseUrlVia: 'environment' | 'codex-config' | 'gateway'
  /** With a key and no base URL: what `codex-config` says instead, so that no `authenticate` is needed; null for nothing. */
  readonly publicBaseUrl: string | null
  /** The config-directory variable makes the program drop key and base URL (spec: Credentials 6). */
  readonly configDirStripsKey: boolean
  /** ACP `authenticate` methods; null where the environment or the login is enough. */
  readonly keyMethod: string | null
  readonly loginMethod: string | null
  readonly defaultModel: string
  readonly models: readonly string[]
  readonly modes: ProviderModes
}

/** Session modes by what they ask for (decisions 24). */
export interface ProviderModes {
  /** Asks before everything that changes something. */
  readonly asking: string
  /** Never asks. Not offered in every situation. */
  readonly open: string
  /** All modes that allow something unasked which `asking` asks for; the open one among them. */
  readonly moreOpen: readonly string[]
}

export interface LoginRule {
  /** The credential file: its folder under the home directory, and its name. */
  readonly folder: string
  readonly file: string
  /** The program looks in the folder that its config-directory variable names instead. */
  readonly followsConfigDir: boolean
  /** The member of the file that holds the tokens, null for the file itself. */
  readonly member: string | null
  /** Members that carry a token; one of them is enough. Their names only: values are never kept. */
  readonly accessTokens: readonly string[]
  /** With one of these an expired access token is renewed by the program. */
  readonly refreshTokens: readonly string[]
  /** The member that tells in milliseconds when the access token expires, null if none does. */
  readonly expiry: string | null
  /** A variable that carries an OAuth token is a login too. */
  readonly tokenVariables: readonly string[]
  /** On macOS the login may be in the keychain, which is not read. */
  readonly keychain: boolean
  /** Where the user's choice of how to sign in is stored beside the credentials, null where there is none. */
  readonly choice: LoginChoice | null
}

export interface LoginChoice {
  readonly file: string
  /** The path to the member. */
  readonly path: readonly string[]
  /** The choices that mean this login. */
  readonly login: readonly string[]
}

export const builtInProviders: readonly Provider[] = [
  {
    name: 'claude-code',
    displayName: 'Claude Code',
    command: ['npx', '-y', '@agentclientprotocol/claude-agent-acp@0.100.0'],
    packageName: '@agentclientprotocol/claude-agent-acp',
    version: '0.100.0',
    binary: 'claude-agent-acp',
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
    // No telemetry, no error reports, no updates of itself.
    defaults: { DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    loginCommand: 'claude auth login',
    login: {
      folder: '.claude',
      file: '.credentials.json',
      // Spec, Credentials 6: the variable moves settings and history, not the token.
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
    },
  },
  {
    name: 'codex',
    displayName: 'Codex',
    command: ['npx', '-y', '@agentclientprotocol/codex-acp@2.6.0'],
    packageName: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    binary: 'codex-acp',
    prefix: 'codex-acp',
    apiKeyVariable: 'OPENAI_API_KEY',
    otherKeyVariables: ['CODEX_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
    configDirVariable: 'CODEX_HOME',
    dataDirVariable: 'CODEX_HOME',
    homeVariable: 'HOME',
    variables: [
      'OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL', 'CODEX_HOME', 'CODEX_CONFIG', 'CODEX_PATH', 'MODEL_PROVIDER',
    ],
    // No sign-in by a browser on the server's machine.
    defaults: { NO_BROWSER: '1' },
    loginCommand: 'codex login',
    login: {
      folder: '.codex',
      file: 'auth.json',
      followsConfigDir: true,
      // A file that only holds an API key is no subscription login.
      member: 'tokens',
      accessTokens: ['access_token'],
      refreshTokens: ['refresh_token'],
      expiry: null,
      tokenVariables: [],
      keychain: false,
      choice: null,
    },
    baseUrlVia: 'codex-config',
    // `authenticate` with a key would write the key into the user's own login file.
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
    },
  },
  {
    name: 'gemini-cli',
    displayName: 'Gemini CLI',
    command: ['npx', '-y', '@google/gemini-cli@0.61.0', '--acp'],
    packageName: '@google/gemini-cli',
    version: '0.61.0',
    binary: 'gemini',
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
    // In a folder that it does not trust it refuses modes and silently leaves out MCP servers. One process, not two.
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
      // Spec, Credentials 7: the type chosen at sign-in is used.
      choice: { file: 'settings.json', path: ['security', 'auth', 'selectedType'], login: ['oauth-personal'] },
    },
    baseUrlVia: 'gateway',
    publicBaseUrl: null,
    configDirStripsKey: false,
    // `authenticate` rewrites the user's settings file; the environment and the chosen sign-in are enough.
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
    },
  },
]
