/** What a client asks of the machine that the server runs on: files, repositories, commands, the list of workspaces. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { client, clients, fails, options, workspace } from './connection.mjs'
import { equal, step, until } from './steps.mjs'

const files = new clients.FileClient(options)
const bash = new clients.BashClient(options)
const root = workspace('machine')
const remote = new client.RemoteWorkspace({ ...options, workingDir: root })

export async function moveFiles(conversationId) {
  const path = join(root, 'a folder', 'é.json')
  await step('FileClient.uploadTextFile', async () => {
    equal(await files.uploadTextFile('{"a": 1}', path), { success: true })
  })
  await step('FileClient.downloadTextFile', async () => equal(await files.downloadTextFile(path), '{"a": 1}'))
  await step('RemoteWorkspace.fileUpload, downloadAsText', async () => {
    equal((await remote.fileUpload(new Blob(['[ 1 ]']), path)).success, true)
    equal(await remote.downloadAsText(path), '[ 1 ]')
  })
  await step('FileClient.uploadFile, downloadFile: bytes', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128])
    equal(await files.uploadFile(new Blob([bytes]), join(root, 'bytes.bin')), { success: true })
    equal(Buffer.from(await files.downloadFile(join(root, 'bytes.bin'))).toString('hex'), bytes.toString('hex'))
  })
  await step('RemoteWorkspace.uploadText, uploadFileObject, fileDownload, downloadAsBlob', async () => {
    const text = join(root, 'text.txt')
    equal((await remote.uploadText('one', text)).success, true)
    equal((await (await remote.downloadAsBlob(text)).text()), 'one')
    equal((await remote.uploadFileObject(new File(['two'], 'text.txt'), text)).success, true)
    const { success, content } = await remote.fileDownload(text)
    equal([success, Buffer.from(content).toString()], [true, 'two'])
  })
  await step('FileClient.downloadFile: none', () => fails(() => files.downloadFile(join(root, 'none')), 404))
  await step('FileClient.uploadTextFile: a relative path', () => {
    return fails(() => files.uploadTextFile('x', 'relative'), 400, { detail: 'Path must be absolute' })
  })
  await step('FileClient.getHome', async () => equal(typeof (await files.getHome()).home, 'string'))
  await step('FileClient.searchSubdirectories', async () => {
    const item = { name: 'a folder', path: join(root, 'a folder') }
    equal(await files.searchSubdirectories(root), { items: [item], next_page_id: null })
  })
  await step('FileClient.downloadTrajectory', async () => {
    const blob = await files.downloadTrajectory(conversationId)
    equal(Buffer.from(await blob.arrayBuffer()).toString('latin1', 0, 2), 'PK')
  })
  await step('RemoteWorkspace.startWorkspaceSession', async () => {
    const address = await remote.startWorkspaceSession(conversationId)
    equal(address, `${options.host}/api/conversations/${conversationId}/workspace/`)
    await remote.deleteWorkspaceSession()
  })
}

export async function runCommands() {
  await step('BashClient.executeCommand', async () => {
    const output = await bash.executeCommand('echo out; echo err >&2; exit 3', root, 20)
    equal([output.kind, output.exit_code, output.stdout, output.stderr], ['BashOutput', 3, 'out\n', 'err\n'])
  })
  await step('RemoteWorkspace.executeCommand', async () => {
    equal((await remote.executeCommand('pwd', root)).stdout, `${root}\n`)
  })
  await step('BashClient.startCommand, searchEvents, getEvent, batchGetEvents', async () => {
    const { id } = await bash.startCommand('echo x')
    let items = []
    await until(async () => (items = (await bash.searchEvents({ command_id__eq: id })).items).length > 0, 'an output')
    equal([items[0].kind, items[0].stdout], ['BashOutput', 'x\n'])
    equal(await bash.getEvent(items[0].id), items[0])
    equal(await bash.batchGetEvents(['none', items[0].id]), [null, items[0]])
  })
  await step('BashWebSocketClient', async () => {
    const seen = []
    const callback = (event) => seen.push(event)
    const socket = new client.BashWebSocketClient({ ...options, resendMode: 'all', callback })
    socket.start()
    await until(() => seen.length > 0, 'the history')
    await bash.startCommand('echo over the socket')
    await until(() => seen.some(({ stdout }) => stdout === 'over the socket\n'), 'the output')
    socket.stop()
  })
  await step('BashClient.clearEvents', async () => equal((await bash.clearEvents()).cleared_count >= 1, true))
}

export async function lookAtRepository() {
  const place = join(root, 'repository')
  mkdirSync(place, { recursive: true })
  const author = '-c user.name=a -c user.email=a@example.org'
  const commit = `git add -A && git ${author} commit -qm first`
  const make = `git init -q && echo one > tracked.txt && ${commit} && echo two > tracked.txt`
  await step('a repository', async () => equal((await bash.executeCommand(make, place)).exit_code, 0))
  await step('RemoteWorkspace.gitChanges', async () => {
    const changes = [{ status: 'UPDATED', path: 'tracked.txt' }]
    equal(await remote.gitChanges(place), changes)
    equal(await remote.gitChanges(place, { ref: 'HEAD' }), changes)
  })
  await step('RemoteWorkspace.gitDiff', async () => {
    const path = join(place, 'tracked.txt')
    equal(await remote.gitDiff(path, { ref: 'HEAD' }), { modified: 'two\n', original: 'one\n' })
  })
}

export async function keepWorkspaces() {
  const workspaces = new clients.WorkspacesClient(options)
  const entry = { id: root, name: 'machine', path: root }
  await step('WorkspacesClient.addWorkspaces', async () => {
    equal(await workspaces.addWorkspaces([entry]), { workspaces: [entry], workspaceParents: [] })
  })
  await step('WorkspacesClient.addWorkspaceParents', async () => {
    equal((await workspaces.addWorkspaceParents([entry])).workspaceParents, [entry])
  })
  await step('WorkspacesClient.deleteWorkspace', async () => {
    equal(await workspaces.deleteWorkspace(root), { deleted: true })
    equal(await workspaces.deleteWorkspaceParent(root), { deleted: true })
    equal(await workspaces.listWorkspaces(), { workspaces: [], workspaceParents: [] })
  })
}
