/** Starts the part `browser`. */
import { randomUUID } from 'node:crypto'
import type { Core } from '../../capabilities.ts'
import { valuesOf } from '../../option.ts'
import type { StartedPart } from '../../part.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { AgentBrowser } from './agent-browser.ts'
import { browser } from './part.ts'
import { BrowserPlaces } from './places.ts'
import { browserTools } from './tools.ts'

export function start({ config, environment, runtimeDir, instanceId, cgroupParent }: Needs): StartedPart {
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

type Needs = Pick<Core, 'config' | 'environment' | 'runtimeDir' | 'instanceId' | 'cgroupParent'>
