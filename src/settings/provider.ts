/**
 * The type of an entry of the provider table: facts about an agent's program (contract/settings.md, section 5;
 * decisions 22). The entries are in `providers-table` and in `--providers FILE`.
 */

export interface Provider {
  /** The name that selects the entry: in `acp_server` for a preset, else as the only word of `acp_command`. */
  readonly name: string
  readonly displayName: string
  /** The command that starts the program, unless `acp_command` has another command. */
  readonly command: readonly string[]
  /** The npm package in `command`; empty for a program that does not come from npm. */
  readonly packageName: string
  /** The version of the program that this server was tested with; empty if it was not tested. */
  readonly version: string
  /** The name of the program that the npm package or `installCommand` installs. */
  readonly binary: string
  /**
   * The path of the program below `node_modules`, by platform (`linux-x64`). Needed if the package's install script
   * would make `binary`, because this server runs no install scripts.
   */
  readonly programs: Readonly<Record<string, string>>
  /** The command with which a user installs the program; empty if there is none, or if `agents install` installs it. */
  readonly installCommand: string
  /** A text that begins a word of the program's command (`detectProvider`). The agent's ACP name contains it too. */
  readonly prefix: string
  readonly apiKeyVariable: string
  /** Further variables with an API key. They are treated like `apiKeyVariable`, and preferred to it. */
  readonly otherKeyVariables: readonly string[]
  readonly baseUrlVariable: string
  readonly configDirVariable: string
  /** The variable that moves all data of the program to a folder of the conversation (`acp_isolate_data_dir`). */
  readonly dataDirVariable: string
  /** The variable that replaces `HOME` for the program's own files. */
  readonly homeVariable: string
  /** Variables that the program gets from the server's environment, besides `baseVariables` (process/environment). */
  readonly variables: readonly string[]
  /** Variables that the program gets unless another source sets them, such as the server's environment or a secret. */
  readonly defaults: Readonly<Record<string, string>>
  readonly loginCommand: string
  /** The rule by which `login.ts` detects a login; null: a login is not detected. */
  readonly login: LoginRule | null
  /** The way in which a base URL reaches the program, see `planCredentials`. */
  readonly baseUrlVia: 'environment' | 'codex-config' | 'gateway'
  /** The base URL that is used with an API key when the user has set no base URL; null for none. */
  readonly publicBaseUrl: string | null
  /** True when the config-directory variable makes the program drop the key and the base URL (spec: Credentials 6). */
  readonly configDirStripsKey: boolean
  /**
   * The method of ACP `authenticate`: `keyMethod` for a user with an API key, `loginMethod` for a user with a login.
   * Null for none. With a base URL, another method may be used, or none (`planCredentials`).
   */
  readonly keyMethod: string | null
  readonly loginMethod: string | null
  /** The default model; null when the agent chooses it. */
  readonly defaultModel: string | null
  readonly models: readonly string[]
  /** The session modes; null if they are unknown. Then a mode is judged by its name (open-modes). */
  readonly modes: ProviderModes | null
}

/** The session modes of an agent. They differ in which actions need the user's permission (decisions 24). */
export interface ProviderModes {
  /** The mode that asks before actions that change something. The program's configuration can make it ask less. */
  readonly asking: string
  /** The mode that asks least. Equal to `asking` if no mode asks less. */
  readonly open: string
  /** All modes that ask before fewer actions than `asking`. They include `open`, unless `open` equals `asking`. */
  readonly moreOpen: readonly string[]
  /** Other modes that allow no more actions without asking than the mode `asking` does. Default: none. */
  readonly closed?: readonly string[]
  /** First words of commands that the mode `asking` runs without asking, as measured. `*` stands for all commands. */
  readonly unasked?: readonly string[]
}

export interface LoginRule {
  /** The credential file: its folder under the home directory, and its name. */
  readonly folder: string
  readonly file: string
  /** True when the config-directory variable, if it is set, names a folder that replaces `folder`. */
  readonly followsConfigDir: boolean
  /** The name of the member with the tokens; null when the tokens are members of the file's object itself. */
  readonly member: string | null
  /** Names of the members with an access token. One of them is enough for a login until it expires. */
  readonly accessTokens: readonly string[]
  /** Names of the members with a refresh token, which renews access tokens. One of them is enough for a login. */
  readonly refreshTokens: readonly string[]
  /** The member beside the tokens with the time when the access token expires, in ms since 1970; null for none. */
  readonly expiry: string | null
  /** Variables with an OAuth token. One of them is enough for a login. */
  readonly tokenVariables: readonly string[]
  /** True when the login may be in the macOS keychain, which this server does not read. */
  readonly keychain: boolean
  /** Where the user's choice of a sign-in method is stored; null if it is not stored. */
  readonly choice: LoginChoice | null
}

export interface LoginChoice {
  readonly file: string
  /** The names of the nested members of `file` that lead to the stored choice, the outermost first. */
  readonly path: readonly string[]
  /** The texts at `path` that mean the login of this rule. With any other text the user has chosen another login. */
  readonly login: readonly string[]
}

/** Returns the defaults of the members that an entry may omit. */
export function blankProvider(name: string): Omit<Provider, 'command' | 'prefix'> {
  return {
    name,
    displayName: name,
    packageName: '',
    version: '',
    binary: '',
    programs: {},
    installCommand: '',
    apiKeyVariable: '',
    otherKeyVariables: [],
    baseUrlVariable: '',
    configDirVariable: '',
    dataDirVariable: '',
    homeVariable: 'HOME',
    variables: [],
    defaults: {},
    loginCommand: '',
    login: null,
    baseUrlVia: 'environment',
    publicBaseUrl: null,
    configDirStripsKey: false,
    keyMethod: null,
    loginMethod: null,
    defaultModel: null,
    models: [],
    modes: null,
  }
}
