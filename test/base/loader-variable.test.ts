/** Names that a secret must not have, by rule: each kind of name that steers programs, and the names of credentials. */
import * as assert from 'uvu/assert'
import { isLoaderVariable } from '../../src/base/loader-variable.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/loader-variable')

const steering: Readonly<Record<string, string>> = {
  'the dynamic linkers and shells': 'PATH path LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELL ' +
    'SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 IFS CDPATH FPATH ZDOTDIR BASH_FUNC_ls%% BASH_LOADABLES_PATH INPUTRC VIMINIT',
  'the C library and OpenSSL': 'GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES OPENSSL_CONF OPENSSL_MODULES ' +
    'OPENSSL_ENGINES SSL_CERT_FILE SSLKEYLOGFILE HOSTALIASES',
  'folders of settings': 'HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS CURL_HOME GNUPGHOME NETRC WGETRC TMPDIR ' +
    'DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CONFIG_SITE',
  'git and ssh': 'GIT_SSH GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_EXEC_PATH GIT_ASKPASS SSH_ASKPASS ' +
    'SSH_AUTH_SOCK GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_TEMPLATE_DIR ' +
    'GIT_DIR GIT_WORK_TREE GIT_SSL_NO_VERIFY GIT_TRACE',
  'programs that are started': 'EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SUDO_ASKPASS RSYNC_RSH ' +
    'SYSTEMD_EDITOR CODEX_PATH CLAUDE_CODE_EXECUTABLE CC CXX CARGO_BUILD_RUSTC',
  'options': 'TAR_OPTIONS GREP_OPTIONS GOFLAGS CFLAGS LDFLAGS CGO_CFLAGS RUSTFLAGS MAKEFLAGS MAKEFILES MAVEN_OPTS ' +
    'GRADLE_OPTS PYTEST_ADDOPTS TF_CLI_ARGS_plan JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS',
  'Node and npm': 'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS ' +
    'npm_config_script_shell NPM_CONFIG_REGISTRY ELECTRON_RUN_AS_NODE',
  'Python': 'PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONEXECUTABLE ' +
    'PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX PIP_CONFIG_FILE PIP_INDEX_URL UV_INDEX_URL VIRTUAL_ENV PYTEST_PLUGINS ' +
    'DJANGO_SETTINGS_MODULE ANSIBLE_VAULT_PASSWORD_FILE',
  'other languages': 'PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_HOME PHPRC PHP_INI_SCAN_DIR LUA_PATH ' +
    'LUA_CPATH LUA_INIT_5_4 CLASSPATH JAVA_HOME DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER GOPROXY ' +
    'GOCACHEPROG',
  'compilers': 'RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER GCC_EXEC_PREFIX COMPILER_PATH CMAKE_TOOLCHAIN_FILE',
  'services that run code': 'DOCKER_HOST CONTAINER_HOST BUILDKIT_HOST',
}
for (const [kind, names] of Object.entries(steering)) {
  test(`refuses what steers: ${kind}`, () => {
    assert.equal(names.split(' ').filter((name) => !isLoaderVariable(name)), [])
    assert.equal(names.split(' ').filter((name) => !isLoaderVariable(name.toLowerCase())), [])
  })
}

const free: Readonly<Record<string, string>> = {
  'credentials, of tools as well': 'GITHUB_TOKEN GIT_TOKEN GIT_PASSWORD NPM_TOKEN NODE_AUTH_TOKEN PYTHON_API_KEY ' +
    'OLD_KEY HF_TOKEN SENTRY_DSN SSH_PRIVATE_KEY DOCKER_PASSWORD CARGO_REGISTRY_TOKEN UV_PUBLISH_TOKEN STRIPE_SECRET ' +
    'HOOK_TOKEN',
  'who somebody is': 'GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL GIT_USERNAME DOCKER_USERNAME SMTP_USER JIRA_EMAIL',
  'services': 'DATABASE_URL DB_HOST DB_PORT PGHOST PGPASSWORD MYSQL_PWD REDIS_URL SMTP_HOST SLACK_WEBHOOK_URL ' +
    'HTTP_PROXY TF_VAR_region TF_TOKEN_app_terraform_io',
  'clouds': 'AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_PROFILE AZURE_CLIENT_ID ' +
    'AZURE_TENANT_ID GOOGLE_CLOUD_PROJECT',
  'files that are lent by name': 'CODEX_AUTH_JSON GOOGLE_APPLICATION_CREDENTIALS_JSON GOOGLE_APPLICATION_CREDENTIALS',
  'ordinary words': 'ENVIRONMENT MODEL_PROVIDER ANTHROPIC_MODEL GEMINI_CLI_TRUST_WORKSPACE TZ LANG LC_ALL A MY_VAR ' +
    'TOKEN_A OH_CLOUD_TOKEN',
}
for (const [kind, names] of Object.entries(free)) {
  test(`leaves free: ${kind}`, () => assert.equal(names.split(' ').filter(isLoaderVariable), []))
}

test('leaves free what a provider takes as a credential, and the folder of its login', () => {
  const names = builtInProviders.flatMap(
    ({ apiKeyVariable, otherKeyVariables, baseUrlVariable, login, dataDirVariable }) => {
      return [apiKeyVariable, ...otherKeyVariables, baseUrlVariable, ...(login?.tokenVariables ?? []), dataDirVariable]
    },
  )
  assert.ok(names.length >= 11)
  // The folder of opencode's login is that of all programs' data.
  assert.equal(names.filter(isLoaderVariable), ['XDG_DATA_HOME'])
})

test.run()
