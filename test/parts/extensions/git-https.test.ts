/** Skills from a git repository behind https: whose certificate counts, and that nothing else is asked. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { certificate, startGitHttps, type GitHttpsServer } from '../../fixtures/git-https-server.ts'
import { makeFolder } from '../../support/processes.ts'
import { textAt } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeRepository } from '../git/repositories.ts'

const test = suite('parts/extensions git over https')

/** Runs a test body with a server that has these variables, and an https server of a repository with a skill. */
async function withRepository(
  variables: (certificateFile: string) => Readonly<Record<string, string>>,
  body: (server: TestServer, remote: GitHttpsServer, commit: string) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const repository = makeRepository(join(folder, 'repository'))
  repository.write('SKILL.md', '---\nname: remote\ndescription: From afar.\n---\nText.')
  repository.git('add', '-A')
  repository.git('commit', '-q', '-m', 'one')
  const file = join(folder, 'certificate.pem')
  writeFileSync(file, certificate)
  const remote = await startGitHttps(folder)
  const environment = { PATH: process.env['PATH'], HOME: folder, ...variables(file) }
  try {
    await withServer((server) => body(server, remote, repository.git('rev-parse', 'HEAD').trim()), { environment })
  } finally {
    await remote.close()
    remove()
  }
}

const sourceOf = ({ url }: GitHttpsServer): string => `${url}/repository/.git`

test('a certificate that nobody vouches for is refused, and says so', () => withRepository(
  () => ({ GIT_SSL_NO_VERIFY: '1' }),
  async (server, remote) => {
    const { status, json } = await server.rest.post('/api/skills/install', { source: sourceOf(remote) })
    assert.is(status, 400)
    assert.match(textAt(json, 'detail'), /^Cannot fetch the source with git: .*certificate/)
    assert.equal(remote.paths, [])
    assert.equal((await server.rest.get('/api/skills/installed')).json, { skills: [] })
    const work = join(server.dataDir, 'extensions', 'work')
    assert.equal(existsSync(work) ? readdirSync(work) : [], [])
  },
))

for (const name of ['SSL_CERT_FILE', 'GIT_SSL_CAINFO']) {
  test(`the certificates of ${name} count: a commit is fetched`, () => withRepository(
    (file) => ({ [name]: file }),
    async (server, remote, commit) => {
      const { status, json } = await server.rest.post('/api/skills/install', { source: sourceOf(remote) })
      assert.is(status, 200, JSON.stringify(json))
      assert.equal([textAt(json, 'name'), textAt(json, 'resolved_ref')], ['remote', commit])
      assert.ok(remote.paths.every((path) => path.startsWith('/repository/.git/')))
      const missing = await server.rest.post('/api/skills/install', { source: `${remote.url}/none.git` })
      assert.is(missing.status, 400)
      assert.match(textAt(missing.json, 'detail'), /^Cannot fetch the source with git: .*not found/)
      assert.is((await server.rest.post('/api/skills/installed/remote/refresh')).status, 200)
    },
  ))
}

test.run()
