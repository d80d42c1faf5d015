/**
 * Attacks by a page that the browser tools open: it makes the DevTools messages of a real Chromium long, or very many.
 *
 * The page comes from a server on loopback, which the browser may open here. The model calls the tools that read most
 * of a page. Without a Chromium on the machine the rows show the errors of the tools.
 */
import { createServer } from 'node:http'
import { withCalls } from './surroundings.ts'
import { MB, type NamedAttack } from './work.ts'

const args = ['--browser-allow', '127.0.0.1', ...(process.getuid?.() === 0 ? ['--browser-no-sandbox'] : [])]

export const pages: readonly NamedAttack[] = [
  page('buttons', '20,000', `${'<button>x</button>'.repeat(20_000)}`),
  page('text', '15 MB', `<p>${'x '.repeat(7.5 * MB)}</p>`),
  page(
    'title and address',
    '15 MB',
    `<script>document.title = 'x'.repeat(${15 * MB}); history.pushState(0, '', '#' + 'x'.repeat(1500000))</script>`,
  ),
  page('frames', '200', '<iframe srcdoc="<button>x</button>"></iframe>'.repeat(200)),
  page(
    'requests',
    '5,000',
    "<script>for (let i = 0; i < 5000; i++) fetch('/?' + i + 'x'.repeat(1000)).catch(() => 0)</script>",
  ),
  page('messages of its console, and dialogs', '20,000', "<script>for (let i = 0; i < 20000; i++) console.log('x'.repeat(1000)); for (let i = 0; i < 20; i++) alert('x'.repeat(100000))</script>"),
  page(
    'storage',
    '5 MB',
    "<script>for (let i = 0; i < 50; i++) localStorage.setItem('k' + i, 'x'.repeat(100000))</script>",
  ),
]

function page(name: string, size: string, html: string): NamedAttack {
  return {
    name: `page: ${name}`,
    size,
    args,
    run: (server) => withPage(html, (url) => withCalls(server, [
      ['browser_navigate', { url }], ['browser_get_state', {}], ['browser_get_content', {}],
      ['browser_get_storage', {}],
    ])),
  }
}

async function withPage(html: string, body: (url: string) => Promise<string>): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(request.url === '/page' ? html : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  try {
    return await body(`http://127.0.0.1:${port}/page`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
