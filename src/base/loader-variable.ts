/**
 * Decides which names of environment variables a secret must not have, because the variable would steer a program:
 * which code the program loads, or where its configuration is.
 *
 * Upper and lower case are equal. A name to which no rule applies is allowed. Otherwise the first such rule decides:
 *
 * 1. Listed names, and names with a listed prefix such as `LD_`, are refused.
 * 2. Names that end with the word of a credential (`GIT_TOKEN`), and the names in `loginFolders`, are allowed.
 * 3. Names with a word such as `HOME` (`XDG_CONFIG_HOME`) are refused.
 * 4. Names that begin with a tool (`GIT_SSH`) are refused, unless their last word is in `plainWords`.
 */

/** True for a variable that steers a program, by the rules above. No secret may have its name. */
export function isLoaderVariable(name: string): boolean {
  const upper = name.toUpperCase()
  if (steeringNames.has(upper) || steeringPrefixes.some((prefix) => upper.startsWith(prefix))) return true
  if (loginFolders.has(upper)) return false
  const words = upper.split('_').filter((word) => word !== '')
  const [first = ''] = words
  const last = words.at(-1) ?? ''
  if (credentialWords.has(last) || credentialEnding.test(last)) return false
  if (words.some((word) => steeringWords.has(word) || steeringEnding.test(word))) return true
  return tools.has(first) && !plainWords.has(last)
}

/** Prefixes of the dynamic linkers (ld.so(8), dyld(1)), bash functions, git, npm, Lua and the .NET profilers. */
const steeringPrefixes = [
  'LD_', 'DYLD_', 'BASH_FUNC_', 'GIT_CONFIG', 'NPM_CONFIG_', 'LUA_INIT', 'CORECLR_', 'COR_PROFILER',
]

/** Whole names of variables that steer a program. */
const steeringNames: ReadonlySet<string> = new Set([
  // Shells, and programs that shells start
  'ENV', 'BASH_ENV', 'IFS', 'PS0', 'PS1', 'PS2', 'PS3', 'PS4', 'FCEDIT', 'VISUAL', 'VIMINIT', 'EXINIT', 'GVIMINIT',
  'LESSOPEN', 'LESSCLOSE',
  // The C library and terminals
  'HOSTALIASES', 'LOCALDOMAIN', 'TERMINFO', 'TERMCAP', 'GLIBC_TUNABLES', 'MAILCAPS',
  // Compilers and make
  'CC', 'CXX', 'CPP', 'LD', 'AR', 'AS', 'NM', 'FC', 'MAKE', 'MAKEFILES',
  // Python, Perl, Ruby
  'PYTHONUSERBASE', 'PYTHONWARNINGS', 'PYTHONINSPECT', 'PYTHONBREAKPOINT', 'PYTHONSTARTUP', 'PYTHONPYCACHEPREFIX',
  'PYTHONEXECUTABLE', 'PERL5LIB', 'PERLLIB', 'PERL5DB', 'RUBYLIB',
  // Go
  'GOENV', 'GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GONOPROXY', 'GOPRIVATE', 'GOINSECURE', 'GOTOOLCHAIN', 'GOVCS', 'GOAUTH',
  'GOWORK', 'GODEBUG', 'GOCACHE', 'GOMODCACHE', 'GOCACHEPROG',
  // The address of a service that runs containers, and the folder of Python's virtual environment
  'CONTAINER_HOST', 'VIRTUAL_ENV',
])

const loginFolders: ReadonlySet<string> = new Set([
  'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME', 'COPILOT_HOME', 'CLINE_DATA_DIR', 'OPENHANDS_PERSISTENCE_DIR',
])

/** A variable is a credential if the last word of its name is one of these, or `credentialEnding` matches that word. */
const credentialWords: ReadonlySet<string> = new Set([
  'PASS', 'PAT', 'AUTH', 'DSN', 'JWT', 'PIN', 'COOKIE', 'CERT', 'CREDENTIAL', 'CREDENTIALS',
])
const credentialEnding = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$/

/** Words in the names of variables that select code or programs. */
const steeringWords: ReadonlySet<string> = new Set([
  'HOOK', 'HOOKS', 'PLUGIN', 'PLUGINS', 'MODULE', 'MODULES', 'SCRIPT', 'SCRIPTS', 'ARGS', 'ARGV', 'BIN', 'BINARY',
  'ROOT', 'PREFIX', 'SUFFIX', 'STARTUP', 'BREAKPOINT', 'PRELOAD', 'LAUNCHER', 'DEBUGGER', 'LOADER', 'INTERPRETER',
  'COMMAND', 'CMD', 'EXEC', 'EXECUTABLE', 'PROGRAM', 'COMPILER', 'LINKER', 'EDITOR', 'PAGER', 'BROWSER', 'HELPER',
  'RSH', 'TEMPLATE', 'TEMPLATES',
])
const steeringEnding =
  /(?:FLAGS|OPTIONS|OPTS?|HOME|WRAPPER|PATHS?|DIRS?|(?<!PRO)FILES?|RC|CONFIG|CONF|ASKPASS|SHELL|EDITOR|PAGER)$|^CONFIG/

/** The first words in the names of variables from which tools read their settings. */
const tools: ReadonlySet<string> = new Set([
  'GIT', 'SSH', 'SVN', 'HG', 'LESS', 'TAR', 'GZIP', 'XZ', 'ZIP', 'UNZIP', 'RSYNC', 'CURL', 'WGET', 'GREP', 'FZF',
  'GNUPG',
  'XDG', 'DBUS', 'SYSTEMD', 'SUDO', 'OPENSSL', 'SSL', 'NIX', 'HOMEBREW',
  'NODE', 'NPM', 'YARN', 'PNPM', 'COREPACK', 'BUN', 'DENO', 'ELECTRON', 'TS', 'PUPPETEER', 'PLAYWRIGHT',
  'PYTHON', 'PIP', 'PIPX', 'PIPENV', 'UV', 'POETRY', 'CONDA', 'MAMBA', 'VIRTUALENV', 'PYTEST', 'PYENV',
  'PERL', 'RUBY', 'GEM', 'BUNDLE', 'BUNDLER', 'RBENV', 'PHP', 'COMPOSER', 'LUA', 'ERL', 'MIX', 'HEX',
  'CARGO', 'RUST', 'RUSTC', 'RUSTUP', 'RUSTDOC', 'CGO', 'GCC', 'CLANG', 'CMAKE', 'MAKE', 'PKG', 'CCACHE', 'SCCACHE',
  'JAVA', 'JDK', 'JRE', 'MAVEN', 'MVN', 'GRADLE', 'ANT', 'SBT', 'DOTNET', 'NUGET', 'MSBUILD', 'COMPLUS',
  'DOCKER', 'PODMAN', 'BUILDAH', 'BUILDKIT', 'BUILDX', 'COMPOSE', 'KUBE', 'KUBECTL', 'HELM', 'ANSIBLE', 'VAGRANT',
  'PACKER',
])

/** A variable of one of the `tools` is harmless if its last word is one of these, as in `GIT_AUTHOR_EMAIL`. */
const plainWords: ReadonlySet<string> = new Set(['NAME', 'EMAIL', 'USER', 'USERNAME', 'LOGIN', 'ID', 'DATE'])
