/**
 * The environment of a child process: an allow-list of the server's own environment, with overlays on top.
 *
 * Nothing of the server's environment reaches a child unless it is in the base set below, is named by the operator
 * (`--pass-env`) or is a variable of the provider that the child belongs to. The server's own keys never do, whoever
 * names them. Overlays (secrets, mostly) win over all of that, a later one over an earlier one, and may carry any name
 * except those that decide which code a program loads. Pure: what it reads is an argument, what it makes is new.
 */
import { AppError } from '../base/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface EnvironmentOptions {
  /** The server's environment. */
  readonly server: Environment
  /** Names to take from it besides the base set: the operator's extras and the provider's own variables. */
  readonly pass?: readonly string[]
  /** Variables to set, in order: global secrets, then the conversation's own. */
  readonly overlays?: readonly Environment[]
}

/** What every child gets from the server's environment, as far as it is set there; and every `LC_*`. */
export const baseVariables: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'SHELL', 'TERM',
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
  'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS',
]

/**
 * Builds the environment of one child.
 * @throws AppError `invalid_input` when an overlay carries a name or a value that no child may be given.
 */
export function buildEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { server, pass = [], overlays = [] } = options
  const result: Record<string, string> = {}
  const named = new Set([...baseVariables, ...pass])
  for (const [name, value] of Object.entries(server)) {
    if (value === undefined || isServerVariable(name)) continue
    if (named.has(name) || name.startsWith('LC_')) result[name] = value
  }
  for (const overlay of overlays) {
    for (const [name, value] of Object.entries(overlay)) {
      if (value === undefined) continue
      assertMaySet(name, value)
      result[name] = value
    }
  }
  return result
}

/** True for what configures this server and its keys: it stays here. */
export function isServerVariable(name: string): boolean {
  return name === 'SESSION_API_KEY' || name.startsWith('AGENT_SERVER_') || name.startsWith('OH_')
}

/**
 * True for a name that decides which code a program loads or starts, in any case of letters: whoever may set it runs
 * code of his own in every child, so a secret must not be called that.
 */
export function isLoaderVariable(name: string): boolean {
  const upper = name.toUpperCase()
  return loaderVariables.has(upper) || loaderPrefixes.some((prefix) => upper.startsWith(prefix))
}

function assertMaySet(name: string, value: string): void {
  if (name === '' || /[=\0]/.test(name)) {
    const quoted = JSON.stringify(name)
    throw new AppError('invalid_input', `Cannot set the variable ${quoted}: expected a name without "=" or NUL`)
  }
  if (isLoaderVariable(name)) {
    throw new AppError('invalid_input', `Cannot set the variable "${name}": it changes how programs load`)
  }
  if (value.includes('\0')) {
    throw new AppError('invalid_input', `Cannot set the variable "${name}": its value holds a NUL character`)
  }
}

/**
 * The dynamic linkers (ld.so(8), dyld(1)), functions that bash imports, settings that git and npm take from the
 * environment, and the .NET profilers.
 */
const loaderPrefixes = [
  'LD_', 'DYLD_', 'BASH_FUNC_', 'GIT_CONFIG', 'NPM_CONFIG_', 'LUA_INIT', 'CORECLR_', 'COR_PROFILER',
]

const loaderVariables: ReadonlySet<string> = new Set([
  // Shells
  'PATH', 'SHELL', 'ENV', 'BASH_ENV', 'SHELLOPTS', 'BASHOPTS', 'PROMPT_COMMAND', 'PS4', 'IFS',
  'CDPATH', 'FPATH', 'ZDOTDIR',
  // The C library and OpenSSL
  'GCONV_PATH', 'LOCPATH', 'NLSPATH', 'GLIBC_TUNABLES', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'OPENSSL_ENGINES',
  // Node
  'NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE',
  // Python
  'PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONHOME', 'PYTHONUSERBASE', 'PYTHONBREAKPOINT', 'PYTHONWARNINGS',
  'PYTHONEXECUTABLE', 'PYTHONPLATLIBDIR', 'PYTHONPYCACHEPREFIX',
  // Perl, Ruby, PHP, Lua
  'PERL5OPT', 'PERL5LIB', 'PERLLIB', 'PERL5DB', 'RUBYOPT', 'RUBYLIB', 'PHPRC', 'PHP_INI_SCAN_DIR',
  'LUA_PATH', 'LUA_CPATH',
  // Java and .NET
  'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'CLASSPATH', 'MAVEN_OPTS', 'GRADLE_OPTS',
  'DOTNET_STARTUP_HOOKS', 'DOTNET_ADDITIONAL_DEPS', 'DOTNET_SHARED_STORE',
  // Compilers and make
  'MAKEFLAGS', 'RUSTC_WRAPPER', 'RUSTC_WORKSPACE_WRAPPER', 'GCC_EXEC_PREFIX', 'COMPILER_PATH',
  // Programs that git, ssh, less and others start
  'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR',
  'GIT_PAGER', 'GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND', 'GIT_TEMPLATE_DIR',
  'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE',
])
