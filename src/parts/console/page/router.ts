/**
 * Finds the view for the fragment of the address, such as `#/settings/secrets`. One view is open at a time.
 *
 * A view is loaded by `import()`, so two navigations can overlap: the view of the later navigation stays, and the
 * earlier view is closed as soon as it has opened.
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
  /** When the last view began to open, as of `performance.now`. */
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
    // A view that opens after a later navigation draws into an element that is no longer in the page.
    const place = element('div', { class: 'view' })
    fill(this.#root, place)
    // Without its module, the page says that the view could not be loaded.
    const view = await this.#open(place, partsOf(location.hash)).catch(() => this.#tellFault(place))
    if (count !== this.#count) return view.close()
    this.#view = view
    // The focus was in the view that has closed. The root gets the focus, so that keys still reach the page.
    if (document.activeElement === document.body) this.#root.focus({ preventScroll: true })
  }

  /** Shows that the view could not be loaded, with a button that opens the view again. */
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

/** Goes to a path such as `/settings`. Does nothing when the page is at this path. */
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
