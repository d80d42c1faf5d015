/** The least memory of an open conversation, as a child: an open file, and the bytes of its newest page. */
import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { answer } from '../child.ts'

const pageBytes = 64 * 1024
const held: { readonly file: FileHandle; readonly page: Buffer }[] = []

answer(
  {
    async hold(paths) {
      for (const path of Array.isArray(paths) ? paths : []) {
        const file = await open(String(path))
        const { size } = await file.stat()
        const page = Buffer.alloc(Math.min(size, pageBytes))
        await file.read(page, 0, page.length, size - page.length)
        held.push({ file, page })
      }
    },
    async memory() {
      for (let round = 0; round < 6; round++) {
        globalThis.gc?.()
        await pause(50)
      }
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return { used: heapUsed + arrayBuffers }
    },
  },
  async () => {
    for (const { file } of held) await file.close()
  },
)
