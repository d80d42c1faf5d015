/** Starts the part `browser`: offers functions that make the browser tools of a conversation. */
import { randomUUID } from 'node:crypto'
import { valuesOf } from '../../option.ts'
import type { Lent, Started } from '../../part.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { AgentBrowser } from './agent-browser.ts'
import { browser } from './part.ts'
import { BrowserPlaces } from './places.ts'
import { browserTools } from './tools.ts'

export function start(core: Lent<typeof browser>): Started<typeof browser> {
  const { config, environment, runtimeDir, instanceId, cgroupParent } = core
  const { browser: program, browserNoSandbox, browserAllow, browserLimit } = valuesOf(browser.options, config)
  const places = new BrowserPlaces(browserLimit)
  const env = buildEnvironment({ server: environment, pass: config.passEnv })
  return {
    offers: {
      browserTools: {
        makers({ observationsDir }) {
          const agentBrowser = new AgentBrowser({
            program,
            withoutSandbox: browserNoSandbox,
            allowed: browserAllow,
            places,
            env,
            runtimeDir,
            observationsDir,
            instance: instanceId,
            cgroupParent,
            createId: randomUUID,
          })
          return browserTools({ browser: agentBrowser, createId: randomUUID })
        },
      },
    },
  }
}
