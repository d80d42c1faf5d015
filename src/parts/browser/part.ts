/** The part `browser`: tools that drive a Chromium browser. */
import type { Finding } from '../../finding.ts'
import { count, list, optionalPath, toggle, valuesOf, type OptionValues } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'
import { findBrowser, refusesSandbox } from './program.ts'

const options = {
  browser: optionalPath({
    group: 'Agents',
    help: 'Chromium or Chrome for the browser tools; without this option the server looks in the PATH',
  }),
  browserAllow: list({
    group: 'Agents',
    help: 'Host of this machine that the browser tools may open, with or without a port; file: opens all files',
    placeholder: 'HOST[:PORT]',
    flag: 'browser-allow',
    expected: 'a host such as localhost, localhost:3000 or [::1]:3000, or file:',
    accepts: (item) => item === 'file:' || /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(item),
  }),
  browserNoSandbox: toggle({
    group: 'Agents',
    help: 'Start the browser without its sandbox, as root has to; only in a container of its own',
  }),
  browserLimit: count(
    8, 'Agents', 'Browsers that run at the same time; the tools of a further conversation return an error',
  ),
}

export const browser = {
  name: 'browser',
  about: 'Tools of the built-in agent that drive a Chromium',
  options,
  offers: ['browserTools'],
  /** Returns the name of the tool set if a browser is installed and would start as the server's user. */
  async tools(values, { PATH = '' }) {
    const { browser: program, browserNoSandbox } = valuesOf(options, values)
    const isThere = await findBrowser(program, PATH).then(() => true, () => false) // An error means no browser.
    return isThere && (browserNoSandbox || !refusesSandbox()) ? ['browser_tool_set'] : []
  },
  examine: (values, { PATH = '' }) =>
    examineBrowser(valuesOf({ browser: options.browser, browserNoSandbox: options.browserNoSandbox }, values), PATH),
  needs: ['config', 'environment', 'runtimeDir', 'instanceId', 'cgroupParent'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part

async function examineBrowser(
  { browser: wanted, browserNoSandbox }: Pick<OptionValues<typeof options>, 'browser' | 'browserNoSandbox'>,
  searchPath: string,
): Promise<Finding> {
  const subject = 'browser'
  const program = await findBrowser(wanted, searchPath).catch(() => undefined) // A missing program is reported below.
  if (program === undefined) {
    const missing = wanted === undefined ? 'none in the PATH' : `"${wanted}" cannot be executed`
    return {
      subject,
      state: 'note',
      text: `${missing}: the browser tools cannot be used`,
      advice: 'install Chromium, or name it with --browser',
    }
  }
  if (browserNoSandbox || !refusesSandbox()) return { subject, state: 'ok', text: program, advice: '' }
  const text = `${program}: does not start as root with its sandbox, and the browser tools cannot be used`
  return {
    subject,
    state: 'note',
    text,
    advice: 'run the server as another user, or read in SECURITY.md what --browser-no-sandbox means',
  }
}
