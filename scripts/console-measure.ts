/**
 * `npm run console:measure`: measures the cost of the console in a browser, beside a bare page of the same server.
 *
 * Measures in a real Chromium: bytes and milliseconds of the first view, and a conversation of 100,000 events: the time
 * from navigation to its end, tasks, and the heap after paging back through 1,000, 5,000 and 10,000 events. Heap is
 * measured after a collection. The bare page is `/health`, which the browser shows as it is.
 *
 * A task has two times: that of the clock, which grows with the load of the machine, and that of the processor, which
 * is the page's own. Both come from a trace of the page's main thread.
 */
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { memberAt } from '../src/base/fields.ts'
import { closeBrowser, openTab, type Tab } from '../test/parts/console/chromium.ts'
import { create, withDemo } from '../test/parts/console/conversation/driving.ts'
import { appendHistory, call, message } from '../test/parts/console/conversation/history-file.ts'
import { newCode } from '../test/parts/console/visitor.ts'
import type { TestServer } from '../test/support/server.ts'
import { commandLine } from './command-line.ts'

commandLine({
  command: 'npm run console:measure',
  help: 'Measures the console in Chromium: bytes, times, long tasks and heap, beside a bare page.',
})

const events = 100_000

function* history(): Generator<ReturnType<typeof message>> {
  for (let at = 0; at < events; at += 5) {
    yield message(`Message ${at} with **bold** and \`code\``)
    yield* call(`echo ${at}`, `line ${at}\n`.repeat(10))
    yield* call(`ls ${at}`, 'a\nb\n')
  }
}

async function heapMB(tab: Tab): Promise<number> {
  await tab.call('HeapProfiler.collectGarbage')
  return Number(memberAt(await tab.call('Runtime.getHeapUsage'), 'usedSize')) / 1e6
}

/** Calls `body` and tells the tasks of the page's main thread meanwhile. A long task has more than 50 ms (W3C). */
async function tasksOf(tab: Tab, body: () => Promise<void>): Promise<string> {
  const events: unknown[] = []
  const isComplete = new Promise<void>((done) => tab.on('Tracing.tracingComplete', () => done()))
  tab.on('Tracing.dataCollected', (params) => events.push(...listOf(memberAt(params, 'value'))))
  const traceConfig = { includedCategories: ['disabled-by-default-devtools.timeline'] }
  await tab.call('Tracing.start', { transferMode: 'ReportEvents', traceConfig })
  await body()
  await tab.call('Tracing.end')
  await isComplete
  const threadOf = (event: unknown): string => `${String(memberAt(event, 'pid'))} ${String(memberAt(event, 'tid'))}`
  const main = new Set(events.filter((event) => memberAt(event, 'args', 'name') === 'CrRendererMain').map(threadOf))
  const tasks = events.filter((event) => memberAt(event, 'name') === 'RunTask' && main.has(threadOf(event)))
  const figures = (name: string): string => {
    const times = tasks.map((task) => Number(memberAt(task, name) ?? 0) / 1000)
    return `${times.filter((ms) => ms > 50).length} long tasks, the longest ${Math.max(0, ...times).toFixed(0)} ms`
  }
  return `by the clock ${figures('dur')}; of the processor ${figures('tdur')}`
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the bytes on the wire and the milliseconds until the page was loaded. */
async function costOfPage(tab: Tab): Promise<string> {
  return String(await tab.run(`(() => {
    const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    const bytes = all.filter(({ name }) => !name.includes('/api/')).reduce((sum, one) => sum + one.transferSize, 0)
    const end = Math.max(...all.map(({ responseEnd }) => responseEnd))
    return (bytes / 1000).toFixed(1) + ' kB, ' + Math.round(end) + ' ms'
  })()`))
}

function say(words: string): void {
  process.stdout.write(`${words}\n`)
}

async function measureFirstView(url: string, code: string): Promise<void> {
  const tab = await openTab(url)
  try {
    await tab.open(`${url}/health`)
    await tab.until("document.readyState === 'complete'")
    say(`bare page: ${await costOfPage(tab)}, heap ${(await heapMB(tab)).toFixed(1)} MB`)
    await tab.open(`${url}/console/#code=${code}`)
    await tab.until("document.querySelector('.shell') !== null && document.readyState === 'complete'")
    say(`first view: ${await costOfPage(tab)}, heap ${(await heapMB(tab)).toFixed(1)} MB`)
  } finally {
    await tab.close()
  }
}

/** Opens a conversation, and waits for an event with the text. The page notes the time of the frame that has it. */
async function showEvent(tab: Tab, address: string, text: string): Promise<void> {
  await tab.open(address)
  await tab.until(`(() => {
    if (window.shownAt !== undefined) return true
    const isThere = document.querySelector('.items')?.textContent.includes('${text}') === true
    if (isThere) window.shownAt = performance.now()
    return isThere
  })()`)
}

async function shownAt(tab: Tab): Promise<number> {
  return Math.round(Number(await tab.run('window.shownAt')))
}

/** Measures a conversation of one message, with no file of the page in the browser's cache. */
async function measureFirstEvent(server: TestServer): Promise<void> {
  const { url } = server
  const id = await create(server)
  const content = [{ type: 'text', text: 'the first event' }]
  await server.rest.post(`/api/conversations/${id}/events`, { role: 'user', content, run: false })
  const tab = await openTab(url)
  try {
    await tab.open(`${url}/console/#code=${await newCode(server)}`)
    await tab.until("document.querySelector('.shell') !== null")
    await tab.call('Network.setCacheDisabled', { cacheDisabled: true })
    await showEvent(tab, `${url}/console/?again#/c/${id}`, 'the first event')
    say(`first event: shown after ${await shownAt(tab)} ms from navigation, nothing cached; ${await costOfPage(tab)}`)
  } finally {
    await tab.close()
  }
}

async function measureHistory(url: string, code: string, id: string): Promise<void> {
  const tab = await openTab(url)
  try {
    await tab.size(1280, 860)
    await tab.open(`${url}/console/#code=${code}`)
    await tab.until("document.querySelector('.shell') !== null")
    const tasks = await tasksOf(tab, async () => {
      await showEvent(tab, `${url}/console/?again#/c/${id}`, `echo ${events - 5}`)
    })
    say(`100,000 events: the end is shown after ${await shownAt(tab)} ms from navigation`)
    say(`  opening: ${tasks}; heap ${(await heapMB(tab)).toFixed(1)} MB`)
    await tab.run("document.querySelector('.scroller').focus()")
    for (const target of [1000, 5000, 10_000]) {
      const tasks = await tasksOf(tab, () => pageBack(tab, target))
      const rows = await tab.run("document.querySelectorAll('.event-item').length")
      say(`  ${target} events back: ${tasks}; heap ${(await heapMB(tab)).toFixed(1)} MB, ${rows} rows`)
    }
  } finally {
    await tab.close()
  }
}

/** Scrolls up until the oldest event of the page is `target` events before the end. */
async function pageBack(tab: Tab, target: number): Promise<void> {
  const first = "Number(/Message ([0-9]+)/.exec(document.querySelector('.from-agent').textContent)?.[1])"
  const wanted = events - target
  await tab.run(`void (async () => {
    const scroller = document.querySelector('.scroller')
    window.isBack = false
    while (!(${first} <= ${wanted})) {
      scroller.scrollTop -= 800
      await new Promise((done) => requestAnimationFrame(done))
    }
    window.isBack = true
  })()`)
  const end = Date.now() + 120_000
  while (await tab.run('window.isBack') !== true) {
    if (Date.now() > end) throw new Error(`The page did not get ${target} events back`)
    await delay(250)
  }
}

say(`load of the machine before: ${loadavg().map((load) => load.toFixed(1)).join(' ')}`)

await withDemo(async (before) => {
  const id = await create(before)
  await before.server.close()
  await appendHistory(before.dataDir, id, history())
  await withDemo(async (server) => {
    await measureFirstView(server.url, await newCode(server))
    await measureFirstEvent(server)
    await measureHistory(server.url, await newCode(server), id)
  }, { folder: before.folder })
}).finally(closeBrowser)
say(`load of the machine after: ${loadavg().map((load) => load.toFixed(1)).join(' ')}`)
