/**
 * `npm run console:measure`: what the console costs a browser, beside a bare page of the same server.
 *
 * Measures in a real Chromium: bytes and milliseconds of the first view, and a conversation of 100,000 events: the time
 * from navigation to its end, long tasks, and the heap after paging back through 1,000, 5,000 and 10,000 events. Heap
 * is measured after a collection. The bare page is `/health`, which the browser shows as it is.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { memberAt } from '../src/base/fields.ts'
import { closeBrowser, openTab, type Tab } from '../test/parts/console/chromium.ts'
import { create, withDemo } from '../test/parts/console/conversation/driving.ts'
import { appendHistory, call, message } from '../test/parts/console/conversation/history-file.ts'
import { newCode } from '../test/parts/console/visitor.ts'
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

/** Notes long tasks: those of more than 50 ms (W3C Long Tasks). */
const watch = `window.longTasks = []
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ entryTypes: ['longtask'] })`

async function heapMB(tab: Tab): Promise<number> {
  await tab.call('HeapProfiler.collectGarbage')
  return Number(memberAt(await tab.call('Runtime.getHeapUsage'), 'usedSize')) / 1e6
}

async function longest(tab: Tab): Promise<string> {
  const all: unknown = await tab.run('window.longTasks')
  const tasks = Array.isArray(all) ? all.map(Number) : []
  await tab.run('window.longTasks.length = 0')
  return `${tasks.length} long tasks, the longest ${Math.round(Math.max(0, ...tasks))} ms`
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

async function measureHistory(url: string, code: string, id: string): Promise<void> {
  const tab = await openTab(url)
  try {
    await tab.size(1280, 860)
    await tab.open(`${url}/console/#code=${code}`)
    await tab.until("document.querySelector('.shell') !== null")
    await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: watch })
    await tab.open(`${url}/console/?again#/c/${id}`)
    // The page notes the time of the frame that has the last event.
    await tab.until(`(() => {
      if (window.shownAt !== undefined) return true
      const isThere = document.querySelector('.items')?.textContent.includes('echo ${events - 5}') === true
      if (isThere) window.shownAt = performance.now()
      return isThere
    })()`)
    say(`100,000 events: the end is shown after ${Math.round(Number(await tab.run('window.shownAt')))} ms from navigation`)
    say(`  opening: ${await longest(tab)}, heap ${(await heapMB(tab)).toFixed(1)} MB`)
    await tab.run("document.querySelector('.scroller').focus()")
    for (const target of [1000, 5000, 10_000]) await pageBack(tab, target)
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
  const rows = await tab.run("document.querySelectorAll('.event-item').length")
  say(`  ${target} events back: ${await longest(tab)}, heap ${(await heapMB(tab)).toFixed(1)} MB, ${rows} rows`)
}

await withDemo(async (before) => {
  const id = await create(before)
  await before.server.close()
  await appendHistory(before.dataDir, id, history())
  await withDemo(async (server) => {
    await measureFirstView(server.url, await newCode(server))
    await measureHistory(server.url, await newCode(server), id)
  }, { folder: before.folder })
}).finally(closeBrowser)
