/**
 * Follows the changes of all conversations on a stream of server-sent events. The stream is reopened when it ends, and
 * when nothing comes for 40 s: the server writes a comment every 15 s.
 */
import type { Api } from '../api.ts'

const retryMs = 1500
/** The time without a byte after which the server counts as away. */
const silentMs = 40_000
/** The longest time from the end of a stream to the failure of the next attempt, if the server refuses at once. */
const noticedMs = 3000

export interface ChangesFollower {
  /** Takes the summary of a changed conversation. */
  readonly changed: (change: unknown) => void
  /** Takes the conversations that wait for an agent; undefined when the stream ends. */
  readonly queued: (queue: unknown) => void
  /** Called each time the stream opens, so that the follower can read what it missed before. */
  readonly opened: () => void
  /**
   * Called when the stream cannot be opened or is silent, because the server or a proxy before it does not answer.
   * `awayMs` is the time for which the server may have been away.
   */
  readonly failed: (awayMs: number) => void
}

/** Calls the members of `follower` until the returned function is called, which closes the stream. */
export function followChanges(api: Api, follower: ChangesFollower): () => void {
  let isEnded = false
  let attempt = new AbortController()
  let timer = 0
  const heard = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => attempt.abort(), silentMs)
  }
  const awayMs = (): number => noticedMs + (attempt.signal.aborted ? silentMs : 0)
  const follow = async (): Promise<void> => {
    while (!isEnded) {
      attempt = new AbortController()
      heard()
      const response = await api.open('/api/console/changes', attempt.signal).catch(() => undefined) // Told below.
      if (isEnded) return
      if (response === undefined || response.status >= 500) follower.failed(awayMs())
      if (response?.status === 401) return api.onSignedOut()
      if (response?.ok === true && response.body !== null) {
        follower.opened()
        await readStream(response.body, follower, heard).catch(() => undefined) // The loop opens the stream again.
        follower.queued(undefined)
        if (attempt.signal.aborted && !isEnded) follower.failed(awayMs())
      }
      clearTimeout(timer)
      if (!isEnded) await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  void follow()
  return () => {
    isEnded = true
    clearTimeout(timer)
    attempt.abort()
  }
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>, { changed, queued }: ChangesFollower, heard: () => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    text += value
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const [, type, data = 'null'] = /^(?:event: (\w+)\n)?data: (.*)$/.exec(message) ?? []
      if (data === 'null') continue
      if (type === 'queue') queued(JSON.parse(data))
      else changed(JSON.parse(data))
    }
  }
}
