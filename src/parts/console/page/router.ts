/**
 * Finds the view for the fragment of the address, such as `#/settings/secrets`.
 *
 * A view is loaded by `import()`, so two navigations can overlap. The view of the later navigation stays.
 */
import { element, fill } from './dom.ts'

export interface View {
  close(): void
}

/** Opens the view of a path in `root`. `parts` are the decoded segments of the path, such as `settings`, `secrets`. */
export type OpenView = (root: HTMLElement, parts: readonly string[]) => Promise<View>

export class Router {
  readonly #root: HTMLElement
  readonly #open: OpenView
  readonly #onChange = (): void => void this.show()
  #view: View | undefined
  #count = 0
  /** The time at which the last view began to open (`performance.now`). */
  openedAt = 0

  constructor(root: HTMLElement, open: OpenView) {
    this.#root = root
    this.#open = open
    addEventListener('hashchange', this.#onChange)
  }

  /** Closes the open view and opens the view of the current address. */
  async show(): Promise<void> {
    const count = ++this.#count
    this.openedAt = performance.now()
    this.#view?.close()
    this.#view = undefined
    // Each view gets its own element, so a view that loads too late draws outside the page.
    const place = element('div', { class: 'view' })
    fill(this.#root, place)
    // If the view cannot be loaded, the person sees the failure and can try again.
    const view = await this.#open(place, partsOf(location.hash)).catch(() => this.#tellFault(place))
    if (count !== this.#count) return view.close()
    this.#view = view
    // If the body has the focus, for example after the focused element was removed, the root gets the focus.
    if (document.activeElement === document.body) this.#root.focus({ preventScroll: true })
  }

  /** Shows that the view could not be loaded, and a button that tries again. */
  #tellFault(place: HTMLElement): View {
    fill(place, element('div', { class: 'page' },
      element('h1', {}, 'This page could not be loaded'), element('p', {}, 'The server does not answer.'),
      element('button', { type: 'button', onclick: () => void this.show() }, 'Try again')))
    return { close: () => undefined }
  }

  close(): void {
    this.#count++
    removeEventListener('hashchange', this.#onChange)
    this.#view?.close()
    this.#view = undefined
  }
}

/** Goes to a path such as `/settings`. */
export function navigate(path: string): void {
  location.hash = `#${path}`
}

export function partsOf(hash: string): readonly string[] {
  return hash.replace(/^#\/?/, '').split('?')[0]?.split('/').filter((part) => part !== '').map(decoded) ?? []
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // Not percent-encoded: it is used as written.
  }
}
