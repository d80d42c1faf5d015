/** The frame of the console: the list of conversations at the side, and the view of the current address. */
import type { ServerApi } from './api.ts'
import { element, fill, icon } from './dom.ts'
import { listenToKeys } from './keys.ts'
import { navigate, Router, type View } from './router.ts'

/** Shows the frame. `close` of the returned view closes the list and the open view. */
export function openShell(root: HTMLElement, api: ServerApi): View {
  const side = element('nav', { class: 'side', id: 'side', 'aria-label': 'Conversations' })
  const main = element('main', { class: 'main', id: 'main', tabindex: '-1' })
  const shell = element('div', { class: 'shell' }, side, main)
  const toggle = element('button', {
    type: 'button', class: 'side-toggle quiet', 'aria-label': 'Conversations', 'aria-controls': 'side',
    onclick: () => shell.classList.toggle('side-open'),
  }, icon('M2 4h12M2 8h12M2 12h12'))
  fill(root, element('a', { class: 'skip', href: '#main', onclick: (event) => skipTo(event, main) }, 'Skip to content'),
    toggle, shell)
  const closeSide = (): void => shell.classList.remove('side-open')
  addEventListener('hashchange', closeSide)
  const deafen = listenToKeys()
  const opening = import('./list/list.ts').then(({ openList }) => openList(side, api))
  const router = new Router(main, (outlet, parts) => openView(outlet, parts, api))
  void router.show()
  return {
    close() {
      removeEventListener('hashchange', closeSide)
      deafen()
      router.close()
      void opening.then((list) => list.close())
    },
  }
}

const titles: Readonly<Record<string, string>> = { c: 'Conversation', welcome: 'First steps', settings: 'Settings' }

async function openView(
  root: HTMLElement, [kind = '', part = '']: readonly string[], api: ServerApi,
): Promise<View> {
  document.body.dataset['view'] = kind
  document.title = `${titles[kind] ?? 'New conversation'} · Agent Server`
  switch (kind) {
    case 'c': {
      const { openConversation } = await import('./conversation/conversation.ts')
      return openConversation(root, { api, id: part, navigate })
    }
    case 'welcome': {
      const { openOnboarding } = await import('./onboarding/onboarding.ts')
      return openOnboarding(root, api, part)
    }
    case 'settings': {
      const { openSettings } = await import('./settings/settings.ts')
      return openSettings(root, api, part)
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
