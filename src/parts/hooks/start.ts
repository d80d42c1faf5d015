/** Starts the part `hooks`, which opens a `HookSession` for the agent of a conversation. */
import { randomUUID } from 'node:crypto'
import type { Lent, Started } from '../../part.ts'
import { startChildBelow } from '../../process/child.ts'
import { buildEnvironment } from '../../process/environment.ts'
import type { hooks } from './part.ts'
import { HookSession } from './session.ts'

export function start({ config, environment, instanceId, cgroupParent }: Lent<typeof hooks>): Started<typeof hooks> {
  const env = buildEnvironment({ server: environment, pass: config.passEnv })
  return {
    offers: {
      hooks: {
        open: (host, log) => new HookSession({
          host,
          env,
          instance: instanceId,
          createId: randomUUID,
          startProcess: startChildBelow(cgroupParent),
          log,
        }),
      },
    },
  }
}
