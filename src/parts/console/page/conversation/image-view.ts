/** Shows images in data URLs (PNG, JPEG, GIF, WebP). Any other image is not loaded: it becomes a link or a text. */
import { element } from '../dom.ts'
import { button } from './controls.ts'
import { isSafeLink } from './markdown-inline.ts'
import { textNodes } from './text-nodes.ts'

const embedded = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/

export function imageView(src: string, alt: string): HTMLElement {
  if (embedded.test(src.slice(0, 200).replace(/=*$/, 'A'))) {
    const image = element('img', { src, alt: alt || 'Image', class: 'picture', loading: 'lazy', decoding: 'async' })
    return button('picture-button', image, () => enlarge(src, alt), { title: 'Larger' })
  }
  const name = alt || 'Image'
  if (!isSafeLink(src)) return element('span', { class: 'soft' }, `[${name}: `, textNodes(src.slice(0, 100)), ']')
  return element('a', { href: src, rel: 'noreferrer noopener', target: '_blank', title: src },
    `${name} (not loaded: ${src.slice(0, 100)})`)
}

function enlarge(src: string, alt: string): void {
  const image = element('img', { src, alt })
  const dialog = element('dialog', { class: 'large-picture', 'aria-label': alt || 'Image' }, image)
  dialog.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
