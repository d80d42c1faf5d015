/** The frame of the console: the list of conversations at the side, and the view of the address beside it. */
import type { ServerApi } from './api.ts'
import { element, fill } from './dom.ts'
import { navigate, Router, type View } from './router.ts'

/** Shows the frame until `close` is called. */
export function openShell(root: HTMLElement, api: ServerApi): View {
  const side = element('nav', { class: 'side', 'aria-label': 'Conversations' })
  const main = element('main', { class: 'main', id: 'main', tabindex: '-1' })
  fill(root, element('a', { class: 'skip', href: '#main', onclick: (event) => skipTo(event, main) }, 'Skip to content'),
    element('div', { class: 'shell' }, side, main))
  const opening = import('./list/list.ts').then(({ openList }) => openList(side, api))
  const router = new Router(main, (outlet, parts) => openView(outlet, parts, api))
  void router.show()
  return {
    close() {
      router.close()
      void opening.then((list) => list.close())
    },
  }
}

async function openView(root: HTMLElement, [kind = '', part = ''] : readonly string[], api: ServerApi): Promise<View> {
  document.body.dataset['view'] = kind
  switch (kind) {
    case 'c': {
      const { openConversation } = await import('./conversation/conversation.ts')
      return openConversation(root, { api, id: part, navigate })
    }
    default: {
      const { openNew } = await import('./list/new.ts')
      return openNew(root, api)
    }
  }
}

function skipTo(event: Event, target: HTMLElement): void {
  event.preventDefault()
  target.focus()
}
