/** The layout of the console: the list of conversations at the side, and the view of the current address. */
import { AgentQueue } from './agent-queue.ts'
import type { ServerApi } from './api.ts'
import { element, fill, icon } from './dom.ts'
import { listenToKeys } from './keys.ts'
import { Outage } from './outage.ts'
import { navigate, Router, type View } from './router.ts'

/** Shows the list and the view of the address. `close` of the returned view closes both. */
export function openShell(root: HTMLElement, api: ServerApi): View {
  const side = element('nav', { class: 'side', id: 'side', 'aria-label': 'Conversations' })
  const main = element('main', { class: 'main', id: 'main', tabindex: '-1' })
  /** True after input in the open view. Opening the view again would lose the input. */
  let isTouched = false
  const outage = new Outage((awaySince) => {
    // Reopen the view if it was opened during the outage and has no input. A conversation recovers by itself.
    if (router.openedAt > awaySince && !isTouched && !location.hash.startsWith('#/c/')) void router.show()
  })
  const shell = element('div', { class: 'shell' }, side, outage.root, main)
  const queue = new AgentQueue()
  const toggle = element('button', {
    type: 'button', class: 'side-toggle quiet', 'aria-label': 'Conversations', 'aria-controls': 'side',
    onclick: () => shell.classList.toggle('side-open'),
  }, icon('M2 4h12M2 8h12M2 12h12'))
  fill(root, element('a', { class: 'skip', href: '#main', onclick: (event) => skipTo(event, main) }, 'Skip to content'),
    toggle, shell)
  main.addEventListener('input', () => (isTouched = true))
  const moved = (): void => {
    shell.classList.remove('side-open')
    isTouched = false
  }
  addEventListener('hashchange', moved)
  const deafen = listenToKeys()
  const opening = import('./list/list.ts').then(({ openList }) => openList(side, { api, queue, outage }))
  const router = new Router(main, (outlet, parts) => openView(outlet, parts, { api, queue, outage }))
  void router.show().then(loadViews)
  return {
    close() {
      removeEventListener('hashchange', moved)
      deafen()
      router.close()
      outage.close()
      void opening.then((list) => list.close())
    },
  }
}

/** Loads the code of all views, so that they open also when the server is away. */
function loadViews(): void {
  const views = [
    import('./list/new.ts'), import('./onboarding/onboarding.ts'), import('./settings/settings.ts'),
    import('./conversation/conversation.ts').then(({ loadStyles }) => loadStyles()),
  ]
  void Promise.allSettled(views)
}

interface ViewContext {
  readonly api: ServerApi
  readonly queue: AgentQueue
  readonly outage: Outage
}

const titles: Readonly<Record<string, string>> = { c: 'Conversation', welcome: 'First steps', settings: 'Settings' }

async function openView(
  root: HTMLElement, [kind = '', part = '']: readonly string[], { api, queue, outage }: ViewContext,
): Promise<View> {
  document.body.dataset['view'] = kind
  document.title = `${titles[kind] ?? 'New conversation'} · Agent Server`
  switch (kind) {
    case 'c': {
      const { openConversation } = await import('./conversation/conversation.ts')
      return openConversation(root, { api, id: part, queue, outage, navigate })
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
