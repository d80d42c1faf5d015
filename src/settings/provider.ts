/**
 * What is known of an agent's program, as data: the members of an entry of the provider table (spec: providers A, B, C;
 * contract/settings.md 5; decisions 22).
 *
 * The table is `providers-table`; `--providers FILE` has entries of the same form, see `providers-file`. An entry says
 * nothing that a program would have to be started for.
 */

export interface Provider {
  /** The value of `acp_server` for the three presets; of the others, the one word of `acp_command` that stands for the entry. */
  readonly name: string
  readonly displayName: string
  /** What starts it when `acp_command` is empty. */
  readonly command: readonly string[]
  /** The npm package in that command, empty where the program is none of npm's. */
  readonly packageName: string
  /** The version that this server was driven with. */
  readonly version: string
  /** The program that the package installs. */
  readonly binary: string
  /**
   * Where the program is for a platform (`linux-x64`), below `node_modules`, for a package whose own script would have put
   * `binary` in its place at installation: no such script is run.
   */
  readonly programs: Readonly<Record<string, string>>
  /** What a user runs to install it where `agents install` does not; empty where it does. */
  readonly installCommand: string
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
  /** Null for whatever the agent itself takes. */
  readonly defaultModel: string | null
  readonly models: readonly string[]
  /** Null: nothing is known of its modes, and it is judged like an agent that is in no table. */
  readonly modes: ProviderModes | null
}

/** Session modes by what they ask for (decisions 24). */
export interface ProviderModes {
  /** Asks before everything that changes something. */
  readonly asking: string
  /** Never asks. Not offered in every situation. */
  readonly open: string
  /** All modes that allow something unasked which `asking` asks for; the open one among them. */
  readonly moreOpen: readonly string[]
  /** Modes beside `asking` that allow nothing unasked which it asks for. None unless named. */
  readonly closed?: readonly string[]
  /**
   * How commands begin that `asking` runs without a question, as it was measured: none of them changes anything. `*`: every
   * command, since the mode confines them all.
   */
  readonly unasked?: readonly string[]
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

/** What an entry need not say. */
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
