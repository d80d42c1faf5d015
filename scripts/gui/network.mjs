/**
 * The errors between the page and the server: refused requests, requests without a response, red lines of the console.
 *
 * Reads the Network events of the DevTools protocol, which include preflights and handshakes of sockets. Requests to
 * other hosts are not counted: the driver cuts them off. A refused request is an error of this server, unless
 * `exceptions` names the reason why the page asks for it.
 */

/** Responses with an error status that the page expects. */
const exceptions = [
  {
    what: '404 GET /api/file/download',
    reason: 'The planner tab asks for .agents_tmp/PLAN.md, which exists once an agent has written a plan.',
  },
]

/** Red lines that do not come from this server. */
const foreignLines = [
  { pattern: /ERR_NAME_NOT_RESOLVED|Failed to load resource/, reason: 'Repeats a Network event.' },
  {
    pattern: /TextModel got disposed before DiffEditorWidget model got reset/,
    reason: 'The page leaves its editor of differences in another order than the editor expects.',
  },
]

function isForeign(text) {
  return foreignLines.some(({ pattern }) => pattern.test(text))
}

/** Each as `STATUS METHOD PATH in STEP`, once. */
export const refused = new Set()
/** Red lines of the console and uncaught errors of the page, each once. */
export const red = new Set()
/** Number of responses by kind. */
export const counts = { responses: 0, preflights: 0, sockets: 0 }

/** The step that runs. */
let step = ''
export function beginStep(name) {
  step = name
}

/** True while a step causes failed requests itself: it keeps the server down, or enters a wrong key. */
let isAway = false
export function setAway(value) {
  isAway = value
}

/** Watches the page from now on. Counts requests to the given origins only. */
export async function watch(page, origins) {
  const session = await page.context().newCDPSession(page)
  const requests = new Map()
  const failures = new Map()
  const ours = (url) => origins.some((origin) => url.startsWith(origin.replace(/^http/, '')) || url.startsWith(origin))
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    requests.set(requestId, { method: request.method, url: request.url, isAway })
  })
  session.on('Network.webSocketCreated', ({ requestId, url }) => {
    requests.set(requestId, { method: 'SOCKET', url, isAway })
  })
  const judge = (requestId, status) => {
    const { method, url, isAway: wasAway } = requests.get(requestId) ?? {}
    if (url === undefined || !ours(url) || isAway || wasAway) return
    const what = `${status} ${method} ${new URL(url).pathname}`
    if (exceptions.some((exception) => exception.what === what)) return
    const line = `${what} in ${step}`
    refused.add(line)
    if (status >= 500) failures.set(requestId, line)
  }
  // The static server of the page answers 502 with the reason for which it got no response.
  session.on('Network.loadingFinished', ({ requestId }) => {
    const line = failures.get(requestId)
    if (line === undefined) return
    void session.send('Network.getResponseBody', { requestId }).then(({ body }) => {
      refused.delete(line)
      refused.add(`${line}: ${body.slice(0, 200)}`)
    }, () => undefined)
  })
  session.on('Network.responseReceived', ({ requestId, type, response }) => {
    counts[type === 'Preflight' ? 'preflights' : 'responses'] += 1
    if (response.status >= 400) judge(requestId, response.status)
  })
  session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
    counts.sockets += 1
    if (response.status !== 101) judge(requestId, response.status)
  })
  session.on('Network.loadingFailed', ({ requestId, canceled, errorText, corsErrorStatus }) => {
    // The page cancels what it no longer needs, and so does a navigation.
    if (canceled || errorText === 'net::ERR_ABORTED') return
    judge(requestId, corsErrorStatus?.corsError ?? errorText)
  })
  await session.send('Network.enable')
  page.on('console', (message) => {
    const text = message.text()
    if (!isAway && message.type() === 'error' && !isForeign(text)) red.add(`${text.slice(0, 300)} in ${step}`)
  })
  page.on('pageerror', (error) => {
    if (!isForeign(String(error))) red.add(`${String(error).slice(0, 300)} in ${step}`)
  })
}
