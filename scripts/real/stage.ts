/**
 * Where one agent is tried out: the built server with the agent's real program, and a stand-in for its model.
 *
 * Everything is in a folder of its own and nothing needs an account. `close` leaves no process and no folder.
 */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelServer } from '../../test/fixtures/model-server.ts'
import type { ModelStep } from '../../test/fixtures/model-step.ts'
import { installWithServer } from './agent-package.ts'
import type { RealAgent } from './agents.ts'
import { startBuiltServer, type BuiltServer } from './built-server.ts'
import { callServer } from './rest.ts'

export interface Stage {
  readonly agent: RealAgent
  readonly model: ModelServer
  readonly folder: string
  /** The global secrets of the server. */
  readonly secrets: Readonly<Record<string, string>>
  /** What the model does when it is asked this. */
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
  const agentsDir = await installWithServer(agent.provider, agent.package.version)
  const folder = await mkdtemp(join(tmpdir(), `real-${agent.provider}-`))
  // Installed once, and shared by the folders of all servers.
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  await symlink(agentsDir, join(folder, 'data', 'agents'))
  const steps = new Map<string, readonly ModelStep[]>()
  // An agent also asks for things of its own (a title, a suggestion): to such prompts the model does nothing.
  const model = await agent.startModel({ script: (prompt) => steps.get(prompt) ?? [] })
  let server = await startBuiltServer(folder, [])
  const secrets = { [agent.keyVariable]: apiKey, [agent.baseUrlVariable]: model.url + agent.baseUrlPath }
  for (const [name, value] of Object.entries(secrets)) await putSecret(server, name, value)
  return {
    agent,
    model,
    folder,
    secrets,
    say: (prompt, answers) => void steps.set(prompt, answers),
    server: () => server,
    restart: async () => {
      const code = await server.stop()
      server = await startBuiltServer(folder, [])
      return code
    },
    close: async () => {
      await server.stop()
      await model.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The name is the environment variable that the agent gets. */
export function putSecret(server: BuiltServer, name: string, value: string): Promise<unknown> {
  return callServer(server, 'PUT', '/api/settings/secrets', { name, value })
}

export function deleteSecret(server: BuiltServer, name: string): Promise<unknown> {
  return callServer(server, 'DELETE', `/api/settings/secrets/${name}`)
}
