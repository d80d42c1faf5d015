/** The files of a workspace in a real Chromium: the tree, text, an image, the difference from git, and limits. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import { driveIn } from '../chromium.ts'
import { create, show, withDemo, withTab } from './driving.ts'
import { png } from './pictures.ts'

const test = suite('parts/console/conversation: files of the workspace', 120_000)
const drive = driveIn(test)

function fillFolder(folder: string, outside: string): void {
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args])
  }
  mkdirSync(join(folder, 'src', 'deep'), { recursive: true })
  writeFileSync(join(folder, 'src', 'deep', 'a.ts'), 'const a = 1\nconst b = 2\n')
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFileSync(join(folder, 'src', 'deep', 'a.ts'), 'const a = 1\nconst b = 3\n')
  writeFileSync(join(folder, 'page.html'), '<script>window.ran = 1</script><b>bold</b>')
  writeFileSync(join(folder, 'drawing.svg'), '<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran = 1"></svg>')
  writeFileSync(join(folder, 'picture.png'), Buffer.from(png, 'base64'))
  writeFileSync(join(folder, 'program'), Buffer.from([1, 0, 2, 0]))
  writeFileSync(join(folder, 'large.txt'), Buffer.alloc(9_000_000, 'x'))
  symlinkSync(outside, join(folder, 'way-out'))
}

drive('tree, text, image and difference', () => withDemo(async (server) => {
  const folder = join(server.workspaceDir, 'work')
  fillFolder(folder, server.folder)
  await withTab(server, async (tab) => {
    await show(tab, await create(server))
    await tab.click('Files')
    await tab.untilText('src/deep/a.ts')
    await tab.click('src/')
    await tab.click('deep/')
    await tab.untilText('24 bytes')
    await tab.picture('files-tree')
    await tab.click('a.ts')
    await tab.until("document.querySelector('dialog .output')?.textContent === 'const a = 1\\nconst b = 3\\n'")
    await tab.picture('files-text')
    const close = async (): Promise<void> => {
      await tab.run("document.querySelector('dialog header button').click()")
      await tab.until("document.querySelector('dialog') === null")
    }
    await close()
    await tab.run("document.querySelector('.change-updated').closest('button').click()")
    await tab.until("document.querySelectorAll('dialog tr:is(.added, .removed)').length === 2")
    await tab.picture('files-change')
    await close()
    await tab.click('picture.png')
    await tab.until("document.querySelector('dialog img')?.naturalWidth === 160")
    await tab.picture('files-image')
    await close()
    for (const [name, words] of [
      ['page.html', '<script>window.ran = 1</script>'], ['drawing.svg', 'onload='], ['program', 'no text'],
      ['large.txt', 'too much to show'],
    ] as const) {
      await tab.click(name)
      await tab.until(`document.querySelector('dialog')?.textContent.includes(${JSON.stringify(words)}) === true`)
      await close()
    }
    assert.is(await tab.run('window.ran'), undefined)
    assert.ok(await tab.run("document.querySelector('.file-tree').textContent.includes('way-out link or special')"))
    assert.not.ok(tab.requests.some((url) => url.includes('large.txt')))
  })
}))

test.run()
