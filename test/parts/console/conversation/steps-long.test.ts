/** More steps of a person in a conversation in a real Chromium: the queue, going back, tags, images, keys. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { memberAt, textOf } from '../../../../src/base/fields.ts'
import { listAt, member, textAt } from '../../../support/rest.ts'
import type { TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { driveOne, signIn, type Tab } from '../chromium.ts'
import { create, send, show, untilStatus } from './driving.ts'
import { png } from './pictures.ts'

const test = suite('parts/console/conversation: more steps', 120_000)
let server: TestServer
let tab: Tab
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
}, { agentLimit: 1 })

const openMenuOf = (text: string): string => `void [...document.querySelectorAll('.event-item')]
  .find((item) => item.textContent.includes(${JSON.stringify(text)})).querySelector('.more').click()`

async function eventsOf(id: string): Promise<readonly unknown[]> {
  return listAt((await server.rest.get(`/api/conversations/${id}/events/search?limit=100`)).json, 'items')
}

drive('conversations that wait for a free agent have their place, and move up as others end', async () => {
  const ids: string[] = []
  const expected = ['Run sleep 100', 'Waits for a free agent: 1st of 1', 'Waits for a free agent: 2nd of 2']
  const rowOf = (id: string): string => `(document.querySelector('.row[data-id="${id}"] .row-meta')?.textContent ?? '')`
  for (const [index, command] of ['sleep 100', 'echo at-last', 'sleep 101'].entries()) {
    const id = await create(server)
    ids.push(id)
    await show(tab, id)
    await send(tab, `run: ${command}`)
    await untilStatus(tab, expected[index] ?? '')
  }
  const [first = '', second = '', third = ''] = ids
  await tab.until(`${rowOf(second)}.startsWith('In the queue, 1st of 2')`)
  await tab.until(`${rowOf(third)}.startsWith('In the queue, 2nd of 2')`)
  await tab.picture('steps-queue')
  await show(tab, second)
  await untilStatus(tab, 'Waits for a free agent: 1st of 2')
  await show(tab, third)
  // A conversation that leaves the queue and comes again waits behind the others.
  await server.rest.post(`/api/conversations/${second}/pause`)
  await untilStatus(tab, 'Waits for a free agent: 1st of 1')
  await server.rest.post(`/api/conversations/${second}/run`)
  await tab.until(`${rowOf(second)}.startsWith('In the queue, 2nd of 2')`)
  await server.rest.delete(`/api/conversations/${first}`)
  await untilStatus(tab, 'Run sleep 101')
  await tab.until(`${rowOf(second)}.startsWith('In the queue, 1st of 1')`)
  await server.rest.delete(`/api/conversations/${third}`)
  await show(tab, second)
  await tab.untilText('exit code 0')
  await untilStatus(tab, 'Finished')
  assert.not.match(String(await tab.run(rowOf(second))), 'queue')
})

drive('after going back to an event the next message follows it', async () => {
  const id = await create(server)
  await show(tab, id)
  await send(tab, 'run: echo first')
  await untilStatus(tab, 'Finished')
  const [kept] = (await eventsOf(id)).filter((event) => textAt(event, 'kind') === 'MessageEvent')
  await send(tab, 'run: echo second')
  await tab.until("document.querySelectorAll('.call.is-done').length === 2")
  await untilStatus(tab, 'Finished')
  await tab.run(openMenuOf('run: echo first'))
  await tab.click('Go back to here')
  await tab.untilText('The next message follows the event that you chose')
  await tab.until("document.querySelector('.trouble.is-note') !== null")
  await tab.picture('steps-back')
  assert.is(textAt((await server.rest.get(`/api/conversations/${id}`)).json, 'leaf_event_id'), textAt(kept, 'id'))
  await send(tab, 'run: echo third')
  await tab.until("document.querySelectorAll('.call.is-done').length === 3")
  await tab.until("document.querySelector('.trouble').hidden")
})

drive('tags are written in the menu of the list, shown and searched', async () => {
  const id = await create(server)
  await server.rest.patch(`/api/conversations/${id}`, { title: 'To be tagged' })
  await tab.click('Actions for To be tagged')
  await tab.until("document.querySelectorAll('.row-menu:not([hidden]) input').length === 2")
  await tab.run("document.querySelectorAll('.row-menu:not([hidden]) input')[1].id = 'tags-of-row'")
  await tab.type('#tags-of-row', 'project:website urgent')
  await tab.click('Save')
  await tab.until("document.querySelector('.row .tags')?.innerText.includes('project:website urgent') === true")
  const { json } = await server.rest.get(`/api/conversations/${id}`)
  assert.equal(member(json, 'tags'), { project: 'website', urgent: '' })
  await tab.type('input[type=search]', 'website')
  await tab.until("document.querySelectorAll('.row').length === 1")
  await tab.picture('steps-tags')
  await tab.type('input[type=search]', 'To be')
  await tab.run("document.execCommand('selectAll'); document.execCommand('delete')")
  await tab.until("document.querySelectorAll('.row').length > 1")
})

drive('an image is added, shown and sent', async () => {
  const path = join(server.folder, 'picture.png')
  writeFileSync(path, Buffer.from(png, 'base64'))
  const id = await create(server)
  await show(tab, id)
  const expression = "document.querySelector('.composer input[type=file]')"
  const found = await tab.call('Runtime.evaluate', { expression })
  const objectId = textOf(memberAt(found, 'result', 'objectId')) ?? ''
  await tab.call('DOM.setFileInputFiles', { files: [path], objectId })
  await tab.until("document.querySelector('.composer-picture img')?.naturalWidth === 160")
  await tab.picture('steps-image')
  await send(tab, 'Look at this')
  await tab.until("document.querySelector('.from-user .picture') !== null")
  await tab.until("document.querySelector('.composer-picture') === null")
  await untilStatus(tab, 'Finished')
  const sent = (await eventsOf(id)).find((event) => textAt(event, 'kind') === 'MessageEvent')
  const [, image] = listAt(member(sent, 'llm_message'), 'content')
  assert.is(listAt(image, 'image_urls')[0], `data:image/png;base64,${png}`)
})

drive('text that is typed while a message with an image is sent stays, and the image does not', async () => {
  const path = join(server.folder, 'sent.png')
  writeFileSync(path, Buffer.from(png, 'base64'))
  const id = await create(server)
  await show(tab, id)
  const expression = "document.querySelector('.composer input[type=file]')"
  const found = await tab.call('Runtime.evaluate', { expression })
  const objectId = textOf(memberAt(found, 'result', 'objectId')) ?? ''
  await tab.call('DOM.setFileInputFiles', { files: [path], objectId })
  await tab.until("document.querySelector('.composer-picture img')?.naturalWidth === 160")
  await tab.run(`{
    const box = document.querySelector('.composer-text')
    box.value = 'Look at this'
    document.querySelector('.composer').requestSubmit()
    box.value = 'And then'
  }`)
  await tab.until("document.querySelector('.from-user .picture') !== null")
  await tab.until("document.querySelector('.composer-picture') === null")
  await tab.until("document.querySelector('.composer-text').value === 'And then'")
  await untilStatus(tab, 'Finished')
})

drive('the keys of a conversation: next and previous event, search, pause and go on', async () => {
  const id = await create(server)
  await show(tab, id)
  await send(tab, 'run: sleep 3')
  await untilStatus(tab, 'Working')
  await tab.run('document.activeElement.blur()')
  await tab.press('p')
  await untilStatus(tab, 'Paused')
  await tab.press('r')
  await untilStatus(tab, 'Finished')
  await tab.until("document.querySelector('[aria-live=polite].only-heard').textContent.includes('done, exit code 0')")
  await tab.press('j')
  await tab.until("document.activeElement.matches('.event-item.from-user')")
  await tab.press('j')
  await tab.until("document.activeElement.matches('.event-item:not(.from-user)')")
  await tab.press('k')
  await tab.until("document.activeElement.matches('.event-item.from-user')")
  await tab.press('/')
  await tab.until("document.activeElement.matches('.panel input')")
  await tab.press('Escape')
  await tab.until("document.querySelector('.panel')?.checkVisibility() !== true")
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
