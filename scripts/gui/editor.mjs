/**
 * Serves the editor of differences to the page from its npm package.
 *
 * The page loads it from a host of others, which the run does not reach. Only requests to that host are intercepted, so
 * that all other requests of the page are sent as they are, with their preflights.
 */
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

const address = 'https://cdn.jsdelivr.net/npm/monaco-editor@0.55.1/'
const types = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' }

/** `folder` has the package in its `node_modules`. */
export async function serveEditor(page, folder) {
  const session = await page.context().newCDPSession(page)
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const path = new URL(request.url).pathname.slice(new URL(address).pathname.length)
    void answer(session, requestId, join(folder, 'node_modules', 'monaco-editor', path))
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: `${address}*` }] })
}

async function answer(session, requestId, path) {
  const body = await readFile(path).catch(() => undefined)
  if (body === undefined) return session.send('Fetch.fulfillRequest', { requestId, responseCode: 404 })
  const responseHeaders = [
    { name: 'Content-Type', value: types[extname(path)] ?? 'application/octet-stream' },
    { name: 'Access-Control-Allow-Origin', value: '*' },
  ]
  await session.send('Fetch.fulfillRequest', {
    requestId, responseCode: 200, responseHeaders, body: body.toString('base64'),
  })
}
