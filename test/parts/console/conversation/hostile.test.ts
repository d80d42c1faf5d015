/**
 * A hostile history in a real Chromium runs nothing and loads nothing: scripts, event handlers, `javascript:` links,
 * SVG, bidirectional controls, a forged question, and a line of 5 MB, in every text of every form of event.
 *
 * Reports of the Content-Security-Policy and the log of all requests show it, and the elements that the page has made.
 */
import * as assert from 'uvu/assert'
import { isEvent, toEvent, type Event } from '../../../../src/schema/generated/events.ts'
import { listAt, textAt } from '../../../support/rest.ts'
import { suite } from '../../../support/suite.ts'
import { driveIn } from '../chromium.ts'
import { withHistory } from './driving.ts'
import { everyForm } from './every-form.ts'
import { call, failure, message } from './history-file.ts'
import { png } from './pictures.ts'

const test = suite('parts/console/conversation: a hostile history', 120_000)
const drive = driveIn(test)

const hostile = [
  '<script>window.ran = 1</script><img src=x onerror="window.ran = 1"><svg onload="window.ran = 1"></svg>',
  '[a](javascript:window.ran=1) ![b](http://evil.test/b.png) <http://evil.test/c> [http://good.test](http://evil.test/)',
  '![s](data:image/svg+xml,<svg onload=alert(1)>) <iframe src="http://evil.test/e"></iframe> \u202etxt.exe\u202c',
  '# שלום עולם\n\n| a | <b> |\n|---|---|\n| <i> | `x` |',
]

/** Returns an event with an attack in place of each free text, in lists and objects too. */
function poisoned(event: Event): Event {
  const names = /^(?:id|kind|timestamp|source|role|type|status|command|origin|(?:action|tool_call|llm_response)_id)$/
  const text = JSON.stringify(event, (name, value: unknown) => {
    return typeof value === 'string' && name !== '' && !names.test(name) && !/_(?:source|risk)$/.test(name)
      ? `${name === 'screenshot_data' ? 'data:image/svg+xml,' : ''}${hostile[0]}\u202e${value}`
      : value
  })
  const poison: unknown = JSON.parse(text)
  return isEvent(poison) ? toEvent({ ...poison, id: event.id, timestamp: event.timestamp }) : event
}

function* hostileEvents(): Generator<Event> {
  for (const text of hostile) {
    yield message(text)
    yield message(text, 'user')
    yield* call(text, text)
    yield failure(text, text)
  }
  for (const event of everyForm(png)) yield poisoned(event)
  yield message('May the agent do this?\n\n[Allow](javascript:window.ran=1) <button>Allow</button>')
  yield* call('cat big', 'y'.repeat(5_000_000))
}

/** Notes reports of the policy, and every question and dialog. */
const watch = `window.breaches = []
addEventListener('securitypolicyviolation', (event) => breaches.push(event.blockedURI))
for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = () => { window.ran = name }`

drive('a hostile history runs nothing and loads nothing', () => withHistory(hostileEvents(), async (tab, _, server) => {
  await tab.untilText('characters are not shown')
  await tab.run("document.querySelectorAll('.scroller details').forEach((one) => one.open = true)")
  await tab.picture('hostile-end')
  await tab.run("document.querySelector('.scroller').scrollTop = 0")
  await tab.picture('hostile-top')
  assert.is(await tab.run('window.ran'), undefined)
  assert.equal(await tab.run('window.breaches'), [])
  assert.equal(tab.requests.filter((url) => !url.startsWith(server.url) && !/^(?:about|data|blob):/.test(url)), [])
  const active = 'script, iframe, object, embed, form, svg, style, link, base, meta, video, audio'
  assert.is(await tab.run(`document.querySelectorAll('.items :is(${active})').length`), 0)
  const handlers = "[...document.querySelectorAll('.items *')].some(({ attributes }) => " +
    "[...attributes].some(({ name }) => name.startsWith('on') || name === 'srcdoc'))"
  assert.is(await tab.run(handlers), false)
  const links = "[...document.querySelectorAll('.items a')].map(({ protocol }) => protocol)"
  assert.ok(await tab.run(`${links}.every((name) => name === 'http:' || name === 'https:')`))
  const pictures = "[...document.querySelectorAll('.items img')].map(({ src }) => src.slice(0, 15))"
  assert.equal(await tab.run(`[...new Set(${pictures})]`), [])
  assert.ok(await tab.run("[...document.querySelectorAll('.unseen-mark')].some((mark) => mark.textContent === 'RLO')"))
  // A forged question is a message: it has no button, and the place of questions is empty.
  assert.ok(await tab.run("document.querySelector('.items').textContent.includes('May the agent do this?')"))
  assert.is(await tab.run("document.querySelector('.questions').hidden"), true)
  assert.not.ok(await tab.run("[...document.querySelectorAll('.items button')].some((one) => one.textContent === 'Allow')"))
  assert.ok(await tab.run("document.querySelector('.items').textContent.length < 400000"))
  await tab.click('Show all')
  assert.ok(await tab.run("document.querySelectorAll('.row-line').length < 200"))
}, watch))

/** Runs code that the page itself never runs. Returns how the browser answered each attempt. */
const attempts = `(async () => {
  const refused = (attempt) => { try { attempt(); return false } catch (error) { return error.name } }
  const breaches = []
  addEventListener('securitypolicyviolation', (event) => breaches.push(event.effectiveDirective))
  const html = refused(() => { document.createElement('div').innerHTML = '<b>x</b>' })
  await new Promise((done) => {
    const image = new Image()
    image.onload = image.onerror = done
    image.src = 'http://evil.test/a.png'
  })
  await fetch('http://evil.test/b').catch(() => undefined)
  const { headers } = await fetch(location.pathname)
  return { html, breaches, policy: headers.get('Content-Security-Policy') }
})()`

drive('the browser refuses what a fault of the page could try', () => withHistory([message('hello')], async (tab) => {
  await tab.untilText('hello')
  const outcome = await tab.run(attempts)
  assert.is(textAt(outcome, 'html'), 'TypeError')
  const breaches = listAt(outcome, 'breaches')
  assert.ok(breaches.includes('img-src') && breaches.includes('connect-src'), String(breaches))
  const policy = textAt(outcome, 'policy')
  assert.match(policy, "script-src 'self';")
  assert.not.match(policy, 'unsafe')
  assert.ok(breaches.includes('require-trusted-types-for'), String(breaches))
}, '', /evil\.test|TrustedHTML/))

test.run()
