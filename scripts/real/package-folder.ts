/**
 * The folder outside the tree that has all installed packages, and the runner of the programs that install them.
 *
 * The folder is `$AGENT_SERVER_REAL_AGENTS`, else one under the system's temporary folder.
 */
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns the absolute path of the folder that has all packages. */
export function rootFolder(): string {
  return process.env['AGENT_SERVER_REAL_AGENTS'] ?? join(tmpdir(), 'agent-server-real-agents')
}

/** Runs a program in `cwd`, which is made when it is missing. Rejects unless the program exits with 0. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  await mkdir(cwd, { recursive: true })
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`Cannot install: ${program} ended with ${code ?? 'a signal'}`))
    })
  })
}
