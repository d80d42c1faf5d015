/** The workspace beside a conversation: its files, commits and changes. Then a branch of the history and exports. */
import { readFile } from 'node:fs/promises'
import { equal, until } from '../client/steps.mjs'
import { choose, finished, newest, say } from './conversations.mjs'
import { ask, home, page, sees, shot, test } from './page.mjs'

const commit = 'git init -q -b main . && git add -A && ' +
  'git -c user.name=User -c user.email=user@example.com commit -qm first-commit && ' +
  'echo a-changed-line >> agent-server-demo.txt'

export async function readWorkspace() {
  await shot('tab files: the tree and a file', async () => {
    await say(`run: ${commit}`)
    const { workspace } = await newest()
    const changes = `/api/git/changes?path=${encodeURIComponent(workspace.working_dir)}`
    await until(async () => (await ask('GET', changes).catch(() => [])).length === 1, 'the change')
    await finished()
    await tab('files')
    await test('file-tree-file-agent-server-demo.txt').click()
    await test('files-tab-content').getByText('a-changed-line').first().waitFor()
  })
  await shot('tab commits: the commit', async () => {
    await tab('commits')
    await test('commit-list').getByText('first-commit').waitFor()
    await test('commit-row-toggle').first().click()
    await test('commit-row-content').getByText('agent-server-demo.txt').waitFor()
  })
  await shot('tab commits: the diff of a change', async () => {
    await test('uncommitted-changes-row-toggle').click()
    const [response] = await Promise.all([
      page.waitForResponse((one) => new URL(one.url()).pathname === '/api/git/diff'),
      test('uncommitted-changes-row-content').getByText('agent-server-demo.txt').click(),
    ])
    const { original, modified } = await response.json()
    equal(modified, `${original}a-changed-line\n`)
    await page.locator('.monaco-diff-editor .view-line').getByText('a-changed-line').first().waitFor()
  })
}

/** A folder of the user, chosen in the browser of folders, is the workspace of a conversation. */
export async function openWorkspace() {
  await shot('workspace: a folder is chosen', async () => {
    const { home: folder } = await ask('GET', '/api/file/home')
    await ask('POST', '/api/bash/execute_bash_command', { command: `mkdir ${folder}/own-project` })
    await page.goto(`${home}/conversations`)
    await page.getByText('Open Workspace').first().click()
    await page.getByPlaceholder('Select a workspace').click()
    await test('add-workspaces-button').click()
    await test('folder-browser-entry-own-project').dblclick()
    await test('folder-browser-use').click()
    await until(async () => (await ask('GET', '/api/workspaces')).workspaces.length === 1, 'the workspace in the list')
  })
  await shot('workspace: a conversation in the folder', async () => {
    await page.getByRole('button', { name: 'Confirm' }).click()
    await say('run: echo in-the-own-project')
    await sees(/Running echo in-the-own-project|in-the-own-project: done/)
    await finished()
    equal((await newest()).workspace.working_dir.endsWith('/own-project'), true)
  })
}

export async function branch() {
  const { id } = await newest()
  await shot('branch from a message: a conversation with the history up to there', async () => {
    await page.getByText('run: echo the-third-message').first().hover()
    const joined = page.waitForEvent('websocket', (socket) => socket.url().includes('/sockets/events/'))
    await page.getByRole('button', { name: 'Branch from here' }).first().click()
    await until(async () => (await newest()).forked_from_conversation_id === id, 'the branch')
    await page.waitForURL(new RegExp((await newest()).id))
    // The page joins the branch once it has its history.
    await joined
    await sees('run: echo the-third-message')
  })
  await shot('a message in the branch', async () => {
    await say('run: echo in-the-branch')
    await sees(/Running echo in-the-branch|in-the-branch: done/)
    await until(async () => await lastText() === 'run: echo in-the-branch', 'the message in the history')
    await finished()
  })
}

export async function exportHistory() {
  await shot('export: a transcript', async () => {
    await choose('Export…')
    const text = await downloaded(() => test('confirm-transcript-export').click())
    equal(text.includes('run: echo in-the-branch'), true)
  })
  await shot('export: the data of the conversation', async () => {
    const text = await downloaded(() => choose('Download conversation data'))
    equal(text.slice(0, 2), 'PK')
  })
}

async function tab(name) {
  await test(`conversation-tab-${name}`).first().dispatchEvent('click')
  await page.getByText(/^Loading/).first().waitFor({ state: 'hidden' })
}

/** Returns the text of the newest message of the user. */
async function lastText() {
  const { id } = await newest()
  const path = `/api/conversations/${id}/events/search?source=user&sort_order=TIMESTAMP_DESC&limit=1`
  return (await ask('GET', path)).items[0]?.llm_message?.content[0]?.text
}

/** Returns the bytes of the file that the page saves, one character each. */
async function downloaded(click) {
  const [file] = await Promise.all([page.waitForEvent('download'), click()])
  return readFile(await file.path(), 'latin1')
}
