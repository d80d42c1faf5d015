/**
 * Where one agent is tried out: the built server with the agent's real program, and a stand-in for its model.
 *
 * Everything is in a folder of its own and nothing needs an account. `close` leaves no process and no folder.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { commandOf, readInstallation } from '../../src/parts/install/record.ts'
import { claimDataFolder } from '../../src/storage/data-folder-claim.ts'
import type { ModelServer } from '../../test/fixtures/model-server.ts'
import type { ModelStep } from '../../test/fixtures/model-step.ts'
import type { Pace } from '../../test/fixtures/pace.ts'
import { installAgent, installWithServer } from './agent-package.ts'
import type { RealAgent } from './agents.ts'
import { startBuiltServer, type BuiltServer, type ServerVariables } from './built-server.ts'
import { callServer } from './rest.ts'

export interface Stage {
  readonly agent: RealAgent
  /** The words that start the agent's program, without its own arguments. */
  readonly program: readonly string[]
  readonly model: ModelServer
  readonly folder: string
  /** The global secrets of the server. */
  readonly secrets: Readonly<Record<string, string>>
  /** How fast the model speaks from now on. */
  setPace(tokensPerSecond: number): void
  /** Sets the steps of the model for this prompt. */
  say(prompt: string, steps: readonly ModelStep[]): void
  /** The server of this moment. */
  server(): BuiltServer
  /** Ends the server and starts another one on the same folder; gives the exit code of the first. */
  restart(): Promise<number | null | 'late'>
  close(): Promise<void>
}

/** A dummy; the stand-in only remembers it. */
export const apiKey = 'sk-stand-in-0123456789abcdef'

export async function openStage(agent: RealAgent): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), `real-${agent.provider}-`))
  await claimDataFolder(join(folder, 'data'))
  const installed = await installIn(folder, agent)
  let pace: Pace | undefined
  const steps = new Map<string, readonly ModelStep[]>()
  // An agent also asks for things of its own (a title, a suggestion): to such prompts the model does nothing.
  const model = await agent.startModel({ script: (prompt) => steps.get(prompt) ?? [], pace: () => pace })
  for (const [path, content] of Object.entries(agent.homeFiles?.(model.url, true) ?? {})) {
    await writeJson(join(folder, path), content)
  }
  const variables = { ...agent.serverVariables, ...installed.variables }
  let server = await startBuiltServer(folder, [], variables)
  const secrets = secretsOf(agent, model.url)
  for (const [name, value] of Object.entries(secrets)) await putSecret(server, name, value)
  return {
    agent,
    program: installed.program,
    model,
    setPace: (tokensPerSecond) => void (pace = { tokensPerSecond }),
    folder,
    secrets,
    say: (prompt, answers) => void steps.set(prompt, answers),
    server: () => server,
    restart: async () => {
      const code = await server.stop()
      server = await startBuiltServer(folder, [], variables)
      return code
    },
    close: async () => {
      await server.stop()
      await model.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface InstalledProgram {
  readonly program: readonly string[]
  readonly variables: ServerVariables
}

/** Installed once, and shared by the folders of all servers. */
async function installIn(folder: string, { provider, package: wanted }: RealAgent): Promise<InstalledProgram> {
  if (wanted.isPython) {
    const program = await installAgent(wanted)
    return { program: [program], variables: { PATH: dirname(program) } }
  }
  const agentsDir = await installWithServer(provider, wanted.version)
  await symlink(agentsDir, join(folder, 'data', 'agents'))
  const installation = await readInstallation(agentsDir, provider)
  if (installation === undefined) throw new Error(`Expected "${provider}" to be installed`)
  return { program: commandOf(agentsDir, installation), variables: {} }
}

function secretsOf({ keyVariable, baseUrlVariable, baseUrlPath }: RealAgent, url: string): Record<string, string> {
  const all = { [keyVariable]: apiKey, [baseUrlVariable]: url + baseUrlPath }
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== ''))
}

async function writeJson(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, JSON.stringify(content))
}

/** The name is the environment variable that the agent gets. */
export function putSecret(server: BuiltServer, name: string, value: string): Promise<unknown> {
  return callServer(server, 'PUT', '/api/settings/secrets', { name, value })
}

export function deleteSecret(server: BuiltServer, name: string): Promise<unknown> {
  return callServer(server, 'DELETE', `/api/settings/secrets/${name}`)
}
