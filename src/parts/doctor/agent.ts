/**
 * Examines one agent for `agent-server doctor` and for the console: its program, its login or key, and whether it
 * responds. The results name the keys that are set, without their values.
 */
import { randomUUID } from 'node:crypto'
import { isMeasured } from '../../agents/acp/session/agent-info.ts'
import { greet, type Greeting } from './greeting.ts'
import { findProgram, isMissing } from '../../agents/acp/session/program.ts'
import { agentsFolderIn } from '../install/folder.ts'
import { InstalledAgents } from '../install/installed-agents.ts'
import { readInstallation } from '../install/record.ts'
import { messageOf } from '../../base/errors.ts'
import { silentLog } from '../../base/log.ts'
import type { KeylessConfig } from '../../config.ts'
import { startChild } from '../../process/child.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import { detectLogin, isSet, type LoginState } from '../../settings/login.ts'
import { parseNpxCall, type Provider } from '../../settings/providers.ts'
import { version } from '../../version.ts'
import type { Finding } from '../../finding.ts'

export interface AgentExamination {
  readonly provider: Provider
  readonly config: KeylessConfig
  readonly environment: Environment
  /** Names of the stored global secrets. */
  readonly secretNames: readonly string[]
  /** The temporary folder in which the program is started; not used by `describeAgent`, which starts no program. */
  readonly workingDir: string
  readonly signal: AbortSignal
}

export interface ExaminedAgent {
  readonly finding: Finding
  readonly answers: boolean
}

/** An agent in the response of `GET /api/doctor/agents`. */
export interface DescribedAgent {
  readonly name: string
  readonly title: string
  readonly state: 'ready' | 'missing' | 'problem'
  /** How the program was found, such as `installed, version 1.2.3`, or the problem. */
  readonly text: string
  readonly advice: string
  readonly login: LoginState
  /** The names of the keys that are set, with their sources, such as `OPENAI_API_KEY (environment)`. */
  readonly keys: readonly string[]
  readonly api_key_variable: string
  readonly base_url_variable: string
  readonly login_command: string
  /** True when the server can install the program. */
  readonly can_install: boolean
}

/** Describes an agent without starting its program. */
export async function describeAgent(examination: AgentExamination): Promise<DescribedAgent> {
  const { provider } = examination
  const env = environmentFor(examination)
  const [source, access] = await Promise.all([findSource(examination, env), describeAccess(examination, env)])
  const found = 'problem' in source
    ? { state: source.state === 'note' ? 'missing' as const : 'problem' as const, text: source.problem }
    : { state: 'ready' as const, text: source.text }
  return {
    name: provider.name, title: provider.displayName, ...found,
    advice: 'problem' in source ? source.advice : access.advice,
    login: access.login, keys: access.keys,
    api_key_variable: provider.apiKeyVariable, base_url_variable: provider.baseUrlVariable,
    login_command: provider.loginCommand,
    can_install: provider.packageName !== '' && provider.installCommand === '',
  }
}

/** The time limit, in milliseconds, for the response to `initialize`. Gemini CLI takes 12 s on a busy machine. */
const answerTimeoutMs = 60_000

/** Examines one agent. Starts its program if one is found that runs without npx. @throws the signal's reason */
export async function examineAgent(examination: AgentExamination): Promise<ExaminedAgent> {
  const { provider, config, signal } = examination
  const env = environmentFor(examination)
  const access = await describeAccess(examination, env)
  const about = (state: Finding['state'], text: string, advice = ''): Finding => ({
    subject: provider.name,
    state,
    text,
    advice,
  })
  const source = await findSource(examination, env)
  if ('problem' in source) {
    return { finding: about(source.state, `${source.problem}; ${access.text}`, source.advice), answers: false }
  }
  if (source.isNpx) {
    return {
      finding: about('note', `${source.text}; ${access.text}; not started`, installAdvice(provider)),
      answers: false,
    }
  }
  const [command = '', ...args] = [...source.command]
  const program = { command, args, cwd: examination.workingDir, env, marker: `doctor/${randomUUID()}` }
  try {
    const greeting = await greet({ program, startProcess: startChild, version, timeoutMs: answerTimeoutMs, signal })
    const unmeasured = describeUnmeasured(greeting, provider)
    const text = `${source.text}; ${access.text}; answers as ${describeGreeting(greeting)}${unmeasured}`
    const isPinned = source.version === undefined || source.version === provider.version
    const advice = isPinned ? access.advice : `the pinned version is ${provider.version}: ${installAdvice(provider)}`
    return { finding: about(advice === '' && unmeasured === '' ? 'ok' : 'note', text, advice), answers: true }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const text = `${source.text}; ${access.text}; does not answer: ${messageOf(error).replaceAll('\n', ' ')}`
    return {
      finding: about(
        'problem',
        text,
        config.acpCommands[provider.name] === undefined ? installAdvice(provider) : 'check its command',
      ),
      answers: false,
    }
  }
}

/** Returns the environment for the program, without stored secrets. */
function environmentFor({ provider, config, environment }: AgentExamination): Record<string, string> {
  const { variables, defaults } = provider
  return {
    ...defaults,
    ...buildEnvironment({ server: environment, pass: [...config.passEnv, ...variables, ...Object.keys(defaults)] }),
  }
}

interface Source {
  readonly command: readonly string[]
  readonly text: string
  /** The version of an agent that this server has installed; undefined for any other program. */
  readonly version: string | undefined
  readonly isNpx: boolean
}

interface NoSource {
  readonly problem: string
  readonly state: 'note' | 'problem'
  readonly advice: string
}

async function findSource({ provider, config }: AgentExamination, env: Environment): Promise<Source | NoSource> {
  const agentsDir = agentsFolderIn(config.dataDir)
  const installed = new InstalledAgents({ agentsDir, log: silentLog, clock: Date.now })
  try {
    if (isMissing(provider.command, provider, env['PATH'] ?? '')) {
      return { problem: 'not installed', state: 'note', advice: installAdvice(provider) }
    }
    const found = await readInstallation(agentsDir, provider.name)
    const installedCommand = (name: string): Promise<readonly string[] | undefined> => installed.commandOf(name)
    // `allowNpx`: without a program on the machine, get the npx command. `examineAgent` does not start that command.
    const command = await findProgram(provider.command, provider, env['PATH'] ?? '', {
      installedCommand,
      allowNpx: true,
    })
    const call = parseNpxCall(provider.command, provider)
    const shown = command.join(' ')
    if (call === undefined) return { command, text: `started with "${shown}"`, version: undefined, isNpx: false }
    if (found !== undefined) {
      return { command, text: `installed, version ${found.version}`, version: found.version, isNpx: false }
    }
    if (command[0] === provider.binary) {
      return { command, text: `"${provider.binary}" on the PATH`, version: undefined, isNpx: false }
    }
    if (config.allowNpx || !call.isPreset) {
      return { command, text: `started with "${shown}", which may download it`, version: undefined, isNpx: true }
    }
    return { problem: 'not installed', state: 'note', advice: installAdvice(provider) }
  } catch (error) {
    return { problem: messageOf(error), state: 'problem', advice: installAdvice(provider) }
  }
}

interface Access {
  readonly login: LoginState
  readonly keys: readonly string[]
  readonly text: string
  readonly advice: string
}

async function describeAccess({ provider, secretNames }: AgentExamination, env: Environment): Promise<Access> {
  const secrets = new Set(secretNames)
  // A login token may be a stored secret. `detectLogin` only checks that there is a text, so the text `set` is enough.
  const tokens = (provider.login?.tokenVariables ?? []).filter((name) => secrets.has(name)).map((name) => [name, 'set'])
  const environment = { ...env, ...Object.fromEntries(tokens) }
  const login = await detectLogin(provider, { environment, platform: process.platform, clock: Date.now })
  const keys = [provider.apiKeyVariable, ...provider.otherKeyVariables].flatMap((name) => {
    if (secrets.has(name)) return [`${name} (stored secret)`]
    return isSet(env[name]) ? [`${name} (environment)`] : []
  })
  const text = `login: ${login}; key: ${keys.length === 0 ? 'none' : keys.join(', ')}`
  const isEnough = keys.length > 0 || provider.apiKeyVariable === ''
  return { login, keys, text, advice: isEnough ? '' : accessAdvice(login, provider) }
}

function accessAdvice(login: LoginState, provider: Provider): string {
  if (login !== 'no') return ''
  const signIn = provider.loginCommand === '' ? '' : `sign in with "${provider.loginCommand}", or `
  return `${signIn}store the secret ${provider.apiKeyVariable}`
}

function describeGreeting({ name, version: told, authMethods }: Greeting): string {
  return `${name} ${told}${authMethods.length === 0 ? '' : `, signs in by ${authMethods.join(', ')}`}`
}

/** Returns a warning if the provider has a tested version and the program has another version or name; else ''. */
function describeUnmeasured(greeting: Greeting, provider: Provider): string {
  if (provider.version === '' || isMeasured(greeting, provider)) return ''
  const known = `this server knows ${provider.prefix} ${provider.version}`
  return `, ${known}: an unknown mode counts as a mode that does not ask, ` +
    'and no sandbox is trusted'
}

function installAdvice({ name, installCommand }: Provider): string {
  return installCommand === '' ? `agent-server agents install ${name}` : installCommand
}
