/** Follows the changes of all conversations on a stream of server-sent events. The stream is reopened when it ends. */
import type { Api } from '../api.ts'

const retryMs = 1500

/**
 * Calls `take` with each change. Calls `opened` each time the stream opens, so that the caller can read what it missed
 * before. Returns a function that closes the stream.
 */
export function followChanges(api: Api, take: (change: unknown) => void, opened: () => void): () => void {
  const ended = new AbortController()
  const follow = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await readStream(api, ended.signal, take, opened).catch(() => undefined) // The loop opens the stream again.
      if (!ended.signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  void follow()
  return () => ended.abort()
}

async function readStream(
  api: Api, signal: AbortSignal, take: (change: unknown) => void, opened: () => void,
): Promise<void> {
  const response = await api.open('/api/console/changes', signal)
  if (!response.ok || response.body === null) return
  opened()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    text += value
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) {
      if (message.startsWith('data: ')) take(JSON.parse(message.slice('data: '.length)))
    }
  }
}
