/**
 * The type of an entry of the provider table: the facts about an agent's program, as data (spec: providers A, B, C;
 * contract/settings.md 5; decisions 22).
 *
 * The table is in `providers-table`. `--providers FILE` has entries of the same form (`providers-file`).
 */

export interface Provider {
  /** For a preset the value of `acp_server`; for another entry the word of `acp_command` that selects it. */
  readonly name: string
  readonly displayName: string
  /** The command that starts the program when `acp_command` is empty or only `name`. */
  readonly command: readonly string[]
  /** The npm package in `command`; empty for a program that does not come from npm. */
  readonly packageName: string
  /** The version that this server was tested with. */
  readonly version: string
  /** The program that the package installs. */
  readonly binary: string
  /**
   * The path of the program below `node_modules`, by platform (`linux-x64`). It is needed for a package whose install
   * script would create `binary`, because install scripts are not run.
   */
  readonly programs: Readonly<Record<string, string>>
  /** The command that a user runs to install the program; empty if `agents install` can install it. */
  readonly installCommand: string
  /** A command belongs to this entry if a word of it begins with this text. The agent's name in ACP contains it too. */
  readonly prefix: string
  readonly apiKeyVariable: string
  /** Other names of the API key variable. The rules for the key hold for them too. */
  readonly otherKeyVariables: readonly string[]
  readonly baseUrlVariable: string
  readonly configDirVariable: string
  /** The variable that moves all data of the program to a folder of the conversation (`acp_isolate_data_dir`). */
  readonly dataDirVariable: string
  /** The variable that the program uses as the home directory for its own files; `HOME` is used when it is not set. */
  readonly homeVariable: string
  /** Variables of the server's environment that the child gets, besides the variables that every child gets. */
  readonly variables: readonly string[]
  /** Variables that the child gets when neither the server's environment nor a secret sets them. */
  readonly defaults: Readonly<Record<string, string>>
  readonly loginCommand: string
  /** The rule that detects a login, see `login`; null: a login is not detected. */
  readonly login: LoginRule | null
  /** The way in which a base URL reaches the program, see `credentials`. */
  readonly baseUrlVia: 'environment' | 'codex-config' | 'gateway'
  /**
   * The base URL for a user who has set a key and no base URL, because with a base URL Codex works without
   * `authenticate`. Null for a program that needs none.
   */
  readonly publicBaseUrl: string | null
  /** True when the config-directory variable makes the program drop key and base URL (spec: Credentials 6). */
  readonly configDirStripsKey: boolean
  /** The ACP `authenticate` methods with a key and with a login; null for none. A base URL can change the method. */
  readonly keyMethod: string | null
  readonly loginMethod: string | null
  /** The default model; null when the agent chooses it. */
  readonly defaultModel: string | null
  readonly models: readonly string[]
  /** The session modes. If they are null (unknown), open-modes judges a mode by its name. */
  readonly modes: ProviderModes | null
}

/** The session modes of an agent, by the actions for which they ask the user (decisions 24). */
export interface ProviderModes {
  /** The mode that asks before every action that changes something. */
  readonly asking: string
  /** The mode that never asks. Equal to `asking` for a program that asks about the same actions in every mode. */
  readonly open: string
  /** All modes that allow an action for which `asking` asks. `open` is among them, unless `open` equals `asking`. */
  readonly moreOpen: readonly string[]
  /** Modes other than `asking` that allow no action for which `asking` asks. Default: no modes. */
  readonly closed?: readonly string[]
  /**
   * Beginnings of commands that the mode `asking` was measured to run without asking. `*` stands for every command, in
   * a mode that runs all commands in a sandbox.
   */
  readonly unasked?: readonly string[]
}

export interface LoginRule {
  /** The credential file: its folder under the home directory, and its name. */
  readonly folder: string
  readonly file: string
  /** True when the folder in the config-directory variable replaces `folder`. */
  readonly followsConfigDir: boolean
  /** The member of the file that holds the tokens; null when they are members of the file itself. */
  readonly member: string | null
  /** Names of the members with an access token. Until its expiry, one of them is enough for a login. */
  readonly accessTokens: readonly string[]
  /** Names of the members with a refresh token, which renews access tokens. One of them is enough for a login. */
  readonly refreshTokens: readonly string[]
  /** The member with the expiry of the access token in milliseconds; null if the file has no such member. */
  readonly expiry: string | null
  /** Variables with an OAuth token. If one of them is set, the provider is signed in. */
  readonly tokenVariables: readonly string[]
  /** True when the login may be in the keychain on macOS, which is not read. */
  readonly keychain: boolean
  /** Where the user's choice of a sign-in method is stored; null if the program stores no such choice. */
  readonly choice: LoginChoice | null
}

export interface LoginChoice {
  readonly file: string
  /** The names of the members that lead to the choice in the file, the outermost first. */
  readonly path: readonly string[]
  /** The texts at `path` with which the user has chosen this login. Any other text means another login. */
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
