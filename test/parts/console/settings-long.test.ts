/**
 * The settings of the console in a real Chromium, with good and bad input: problems stand at their fields, secrets do
 * not come back to the page, MCP servers are tried and signed in to, and an agent is installed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { startMcpHttp } from '../../fixtures/mcp-http.ts'
import { startOAuth, type OAuthWorld } from '../../fixtures/oauth-server.ts'
import { makeFakeNpm } from '../../support/fake-npm.ts'
import { makeFolder } from '../../support/processes.ts'
import { member, textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, signIn, type Tab } from './chromium.ts'

const test = suite('parts/console: the settings in Chromium')
const { folder, remove } = makeFolder()
let server: TestServer
let oauth: OAuthWorld
let tab: Tab

test.before(async () => {
  oauth = await startOAuth()
})
test.after(async () => {
  await oauth.close()
  remove()
})

mkdirSync(join(folder, '.codex'))
writeFileSync(join(folder, '.codex', 'auth.json'), '{"tokens":{"access_token":"found-on-this-machine"}}')
const environment = { PATH: makeFakeNpm(folder), HOME: folder, FAKE_NPM: 'script' }
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
}, { environment })

async function go(path: string, words: string): Promise<void> {
  await tab.run(`void (location.hash = '#${path}')`)
  await tab.untilText(words)
}

/** Replaces the text of the field with a label, as a person does. */
async function fillIn(label: string, text: string): Promise<void> {
  const control = `[...document.querySelectorAll('.field')]
    .find((one) => one.querySelector('label')?.innerText === ${JSON.stringify(label)})?.querySelector('input, textarea')`
  await tab.until(`${control} !== undefined`)
  await tab.run(`(() => { const one = ${control}; one.id ||= 'x'; one.focus(); one.select() })()`)
  if (text === '') await tab.run("document.execCommand('delete')")
  else await tab.call('Input.insertText', { text })
}

/** Waits for a problem at the field with a label, which has the focus. */
async function problemAt(label: string, words: string): Promise<void> {
  await tab.until(`(() => {
    const one = document.activeElement
    const field = one.closest('.field')
    return one.getAttribute('aria-invalid') === 'true' && field?.querySelector('label').innerText === ${JSON.stringify(label)}
      && field.querySelector('.fault')?.innerText.includes(${JSON.stringify(words)}) === true
      && one.getAttribute('aria-describedby').includes(field.querySelector('.fault').id)
  })()`)
}

/** Presses the button `Try` of the form that adds an MCP server. */
const tryDraft = `void [...document.querySelectorAll('form button')].find((one) => one.innerText === 'Try').click()`

/** Presses the button `Sign in` of a stored MCP server. */
const signInTo = (name: string): string => `void [...document.querySelectorAll('.entry')]
  .find((one) => one.innerText.startsWith('${name}')).querySelectorAll('button')[1].click()`

/** Acts as a browser with a user who declines: the callback gets an error (RFC 6749, 4.1.2.1). */
async function decline(authorizationUrl: string): Promise<void> {
  const { searchParams } = new URL(authorizationUrl)
  const callback = new URL(searchParams.get('redirect_uri') ?? '')
  callback.searchParams.set('state', searchParams.get('state') ?? '')
  callback.searchParams.set('error', 'access_denied')
  callback.searchParams.set('iss', oauth.issuer)
  await (await fetch(callback)).text()
}

const submit = (label: string): Promise<unknown> => tab.run(`void [...document.querySelectorAll('.field')]
  .find((one) => one.querySelector('label')?.innerText === ${JSON.stringify(label)}).closest('form').requestSubmit()`)

async function agentSettings(): Promise<unknown> {
  return member((await server.rest.get('/api/settings')).json, 'agent_settings')
}

drive('a login that is found is shown as a login, and an agent is installed with its progress', async () => {
  await go('/welcome/agent', 'Codex')
  await tab.until(`[...document.querySelectorAll('.card')]
    .some((card) => card.innerText.startsWith('Codex') && card.innerText.includes('A login was found'))`)
  await tab.run(`void [...document.querySelectorAll('.card')].find((card) => card.innerText.startsWith('Codex'))
    .querySelector('button').click()`)
  await tab.until(`[...document.querySelectorAll('.card')]
    .some((card) => card.innerText.startsWith('Codex') && card.querySelector('button') === null)`)
  await tab.picture('install-done')
  await tab.click('Codex')
  await tab.untilText('Codex is saved as your agent')
  await go('/welcome/credentials', 'A login of Codex was found')
  await fillIn('Key (OPENAI_API_KEY)', 'a-key-of-codex-1234')
  await submit('Key (OPENAI_API_KEY)')
  await tab.untilText('Saved, sealed on the server')
  await submit('Key (OPENAI_API_KEY)')
  await tab.untilText('Nothing has changed.')
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/#/welcome`)
  await tab.until("document.querySelector('h1')?.innerText === 'Credentials'")
  await tab.until("document.querySelector('input[type=password]')?.placeholder.startsWith('Set: OPENAI_API_KEY')")
  await go('/settings/secrets', 'OPENAI_API_KEY')
  assert.not.match(String(await tab.run('document.documentElement.outerHTML')), 'a-key-of-codex-1234')
})

drive('another agent keeps the model, its key and the MCP servers', async () => {
  await server.rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
  const llm = { model: 'anthropic/kept', api_key: 'a-key-that-is-kept' }
  await server.rest.patch('/api/settings', { agent_settings_diff: { llm } })
  await server.rest.post('/api/settings/mcp/kept', { command: 'true', env: { TOKEN: 'a-token-that-is-kept' } })
  await go('/welcome/agent', 'Built-in agent')
  for (const title of ['Demonstration agent', 'Built-in agent']) {
    await tab.click(title)
    await tab.untilText(`${title} is saved`)
  }
  const headers = { 'X-Expose-Secrets': 'plaintext' }
  const { json } = await server.rest.send('GET', '/api/settings', { headers })
  const kept = member(json, 'agent_settings')
  assert.equal([textAt(kept, 'llm', 'model'), textAt(kept, 'llm', 'api_key')], [llm.model, llm.api_key])
  assert.is(textAt(kept, 'mcp_config', 'kept', 'env', 'TOKEN'), 'a-token-that-is-kept')
  await server.rest.send('DELETE', '/api/settings/mcp/kept')
})

drive('agent settings: dependent fields, deep fields, a refused value at its field, a secret that stays away', async () => {
  await go('/settings/agent', 'Base URL')
  const vendor = `[...document.querySelectorAll('.field')].find((one) => one.innerText.startsWith('Subscription Vendor'))`
  assert.is(await tab.run(`${vendor}.hidden`), true)
  await tab.run(`(() => { const one = [...document.querySelectorAll('select')].find((two) => two.value === 'api_key')
    one.value = 'subscription'; one.dispatchEvent(new Event('input', { bubbles: true })) })()`)
  assert.is(await tab.run(`${vendor}.hidden`), false)
  await tab.run(`(() => { const one = [...document.querySelectorAll('select')].find((two) => two.value === 'subscription')
    one.value = 'api_key'; one.dispatchEvent(new Event('input', { bubbles: true })) })()`)
  await tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
  await fillIn('Timeout', 'soon')
  await submit('Timeout')
  await problemAt('Timeout', 'expected an integer')
  await fillIn('Timeout', '77')
  await fillIn('Top P', '9')
  await fillIn('API Key', 'a-new-key-of-the-model')
  await submit('Timeout')
  await tab.until("document.querySelector('.outcome:not(:empty)') !== null")
  await tab.picture('settings-refused')
  const { json } = await server.rest.get('/api/settings')
  assert.is(member(member(member(json, 'agent_settings'), 'llm'), 'timeout'), 77)
  assert.not.match(String(await tab.run('document.documentElement.outerHTML')), 'a-new-key-of-the-model')
  await fillIn('Max Iterations', '-4')
  await submit('Max Iterations')
  await problemAt('Max Iterations', 'refuses this value')
  await tab.picture('settings-problem')
})

drive('secrets: a bad name is told at the field; values never come back', async () => {
  await go('/settings/secrets', 'Add or replace')
  await fillIn('Name', 'bad name')
  await fillIn('Value', 'a-value-of-a-secret')
  await submit('Name')
  await problemAt('Name', 'expected a letter')
  await tab.picture('settings-secret-problem')
  await fillIn('Name', 'GOOD_NAME')
  await submit('Name')
  await tab.untilText('GOOD_NAME is stored')
  await tab.click('Replace')
  assert.not.match(String(await tab.run('document.documentElement.outerHTML')), 'a-value-of-a-secret')
  assert.equal(await tab.run("[...document.querySelectorAll('input[type=password]')].map(({ value }) => value)"), [''])
})

drive('profiles: a bad name at its field, a model profile in use, an agent profile offered first', async () => {
  await go('/settings/profiles', 'No model profiles yet')
  await fillIn('Name', 'not/good')
  await fillIn('Model', 'anthropic/claude-sonnet-4-5')
  await submit('Name')
  await problemAt('Name', 'expected a letter or a digit')
  await fillIn('Name', 'careful')
  await submit('Name')
  await tab.untilText('Saved.')
  await tab.click('Use')
  await tab.untilText('careful (active)')
  await tab.untilText('Name of the agent profile')
  await fillIn('Name of the agent profile', 'reviewer')
  await submit('Name of the agent profile')
  await tab.untilText('reviewer is saved.')
  await tab.picture('settings-profiles-added')
  const reviewer = "[...document.querySelectorAll('.entry')].find((one) => one.innerText.startsWith('reviewer'))"
  await tab.until(`${reviewer} !== undefined`)
  await tab.run(`void ${reviewer}.querySelector('button').click()`)
  await tab.untilText('reviewer (offered first)')
})

drive('MCP: a program and a protected server are tried, and a sign-in by OAuth succeeds', async () => {
  await go('/settings/mcp', 'No MCP servers yet')
  await tab.click('Try')
  assert.is(await tab.run("document.activeElement.matches(':invalid')"), true)
  const program = fileURLToPath(new URL('../../fixtures/mcp-stdio.js', import.meta.url))
  await fillIn('Name', 'local')
  await fillIn('Command or address', `${process.execPath} ${program}`)
  await tab.click('Try')
  await tab.until("document.querySelector('.outcome')?.innerText.startsWith('Works. Its tools: ') === true")
  await submit('Name')
  await tab.untilText('local is added')
  await fillIn('Name', 'remote')
  await fillIn('Command or address', oauth.mcp.url)
  await tab.run("document.querySelector('input[type=checkbox]').click()")
  await submit('Name')
  await tab.untilText('remote is added')
  await tab.until("document.querySelectorAll('.entry').length === 2")
  await tab.run(signInTo('remote'))
  await tab.untilText('Agree there')
  await decline(String(await tab.run("document.querySelector('.outcome a').href")))
  await tab.until("document.querySelector('.outcome.fault')?.innerText.includes('access_denied') === true")
  await tab.picture('settings-mcp-declined')
  await tab.run(signInTo('remote'))
  await tab.untilText('Agree there')
  await tab.picture('settings-mcp-sign-in')
  const callback = await oauth.agree(String(await tab.run("document.querySelector('.outcome a').href")))
  assert.is((await fetch(callback)).status, 200)
  await tab.untilText('Signed in. Its tools: ')
  await tab.picture('settings-mcp-signed-in')
  assert.ok(JSON.stringify(await agentSettings()).includes('"remote"'))
})

drive('MCP: a server over HTTP is tried, and each failure has its reason', async () => {
  const open = await startMcpHttp()
  const outcome = "document.querySelector('.outcome')"
  const fails = (words: string): Promise<void> => {
    const names = `${outcome}.innerText.includes(${JSON.stringify(words)})`
    return tab.until(`${outcome}.classList.contains('fault') && ${names}`)
  }
  await fillIn('Command or address', open.url)
  await tab.run("void (document.querySelector('form input[type=checkbox]').checked = false)")
  await tab.run(tryDraft)
  await tab.until(`!${outcome}.classList.contains('fault') && ${outcome}.innerText.startsWith('Works. Its tools: ')`)
  await tab.picture('settings-mcp-http')
  await open.close()
  await tab.run(tryDraft)
  await fails('nothing listens there')
  await tab.picture('settings-mcp-refused')
  await fillIn('Command or address', 'no-such-program --stdio')
  await tab.run(tryDraft)
  await fails('no-such-program')
  await tab.picture('settings-mcp-no-program')
  await fillIn('Command or address', oauth.mcp.url)
  await tab.run(tryDraft)
  await fails('status 401')
  await tab.picture('settings-mcp-unauthorized')
})

drive('nothing failed but what was refused', () => {
  assert.equal(tab.faults.filter((fault) => !fault.includes('status of 422')), [])
})

test.run()
