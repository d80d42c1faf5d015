/** A recording of the current tab: JPEG pictures in memory, which `save` writes into a folder. */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { makeFolder, privateFolder, writeLoosely } from '../../base/own-files.ts'
import { numberOrZero, textOrEmpty } from './fields.ts'
import { viewport } from './launch.ts'
import type { Tab } from './tab.ts'

export interface RecordingLimits {
  readonly limitFrames: number
  readonly limitBytes: number
  /** The wait before a picture is acknowledged. Without acknowledgements, the browser stops after a few pictures. */
  readonly intervalMs: number
}

interface RecordedFrame {
  readonly jpeg: Buffer
  /** The time of the picture, in seconds since the epoch. */
  readonly at: number
}

export class Recording {
  readonly #limits: RecordingLimits
  readonly #frames: RecordedFrame[] = []
  #bytes = 0
  #tab: Tab | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(limits: RecordingLimits) {
    this.#limits = limits
  }

  get isFull(): boolean {
    return this.#frames.length >= this.#limits.limitFrames || this.#bytes >= this.#limits.limitBytes
  }

  /** Records this tab instead of the previous tab. If the recording is full, only stops recording the previous tab. */
  async follow(tab: Tab, signal?: AbortSignal): Promise<void> {
    this.#leave()
    if (this.isFull) return
    this.#tab = tab
    tab.onFrame = (frame) => this.#take(tab, frame)
    const size = { maxWidth: viewport.width, maxHeight: viewport.height }
    await tab.session.call('Page.startScreencast', { format: 'jpeg', quality: 60, ...size }, { signal })
  }

  /**
   * Stops recording and writes the pictures into the folder. `seconds` is the time from the first picture to the last.
   * @throws AppError `conflict` when there is no picture; errors of the file system
   */
  async save(folder: string): Promise<{ frames: number, seconds: number }> {
    this.close()
    // The browser may send pictures out of order.
    const frames = this.#frames.toSorted((one, other) => one.at - other.at)
    const first = frames[0]
    const last = frames.at(-1)
    if (first === undefined || last === undefined) {
      throw new AppError('conflict', 'The recording holds nothing: no frame came from the browser')
    }
    await makeFolder(folder, privateFolder)
    for (const [index, { jpeg, at }] of frames.entries()) {
      const ms = Math.round((at - first.at) * 1000)
      await writeLoosely(join(folder, `${String(index + 1).padStart(4, '0')}-${ms}ms.jpg`), jpeg)
    }
    return { frames: frames.length, seconds: last.at - first.at }
  }

  /** Stops recording. Idempotent. */
  close(): void {
    this.#leave()
    this.#tab = undefined
  }

  #leave(): void {
    clearTimeout(this.#timer)
    if (this.#tab === undefined) return
    this.#tab.onFrame = undefined
    this.#tab.session.tell('Page.stopScreencast')
  }

  /**
   * Adds a picture of the recorded tab. Acknowledges it to the browser after `intervalMs`. A newer picture cancels
   * this acknowledgement, and so does the end of the recording of this tab.
   */
  #take(tab: Tab, { data, metadata, sessionId }: Fields): void {
    if (tab !== this.#tab) return
    const jpeg = Buffer.from(textOrEmpty(data), 'base64')
    this.#frames.push({ jpeg, at: numberOrZero(objectOf(metadata)['timestamp']) })
    this.#bytes += jpeg.length
    if (this.isFull) return this.#leave()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => tab.session.tell('Page.screencastFrameAck', { sessionId: numberOrZero(sessionId) }),
      this.#limits.intervalMs,
    )
  }
}
