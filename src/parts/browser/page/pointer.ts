/**
 * Scripts for pages: they find the point to click on an element, and scroll. They run in the isolated world of a frame.
 */

/**
 * Scrolls the element into view. Returns the centre of the visible part of its first non-empty box, relative to the
 * upper left corner of this box. Returns a `problem` if there is no such box, or if another element covers the centre.
 */
export const pointTo = String.raw`
function () {
  this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const rect = [...this.getClientRects()].find(({ width, height }) => width > 0 && height > 0)
  if (!rect) return { problem: 'it has no size on the page' }
  const left = Math.max(rect.left, 0)
  const top = Math.max(rect.top, 0)
  const x = (left + Math.min(rect.right, innerWidth)) / 2
  const y = (top + Math.min(rect.bottom, innerHeight)) / 2
  let hit = document.elementFromPoint(x, y)
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y)
    if (!inner || inner === hit) break
    hit = inner
  }
  const isLabel = [...(this.labels || [])].some((label) => isPartOf(hit, label))
  if (!hit || isPartOf(hit, this) || isPartOf(this, hit) || isLabel) {
    return { x: x - rect.left, y: y - rect.top, isOnPage: hit !== null, tag: this.tagName }
  }
  const text = (hit.innerText || '').trim().slice(0, 80)
  const words = text === '' ? '' : ' with the text ' + JSON.stringify(text)
  return { problem: 'it is covered by a ' + hit.tagName.toLowerCase() + ' element' + words }

  /** Returns whether inner is outer or lies in it, also across shadow roots. */
  function isPartOf(inner, outer) {
    for (let node = inner; node; node = node.parentNode || node.host) if (node === outer) return true
    return false
  }
}`

/**
 * Scrolls the innermost element in the middle of the viewport that can still scroll in this direction, else the page.
 * `sign` is 1 for down, -1 for up. The members `moved`, `above` and `below` of the result are in pixels.
 */
export const scrollPage = String.raw`
function (sign) {
  let node = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
  const page = document.scrollingElement || document.documentElement
  while (node && node !== page && node !== document.body && !canScroll(node)) {
    node = node.parentElement || (node.getRootNode() || {}).host
  }
  const box = !node || node === document.body ? page : node
  const height = box === page ? innerHeight : box.clientHeight
  const before = box.scrollTop
  box.scrollBy({ top: sign * height * 0.85, behavior: 'instant' })
  return {
    moved: Math.round(box.scrollTop - before),
    above: Math.round(box.scrollTop),
    below: Math.max(0, Math.round(box.scrollHeight - box.scrollTop - height)),
    what: box === page ? 'page' : 'element in the middle of the page',
  }

  function canScroll(element) {
    if (element.scrollHeight <= element.clientHeight + 1) return false
    if (!['auto', 'scroll'].includes(getComputedStyle(element).overflowY)) return false
    return sign > 0 ? element.scrollTop + element.clientHeight + 1 < element.scrollHeight : element.scrollTop > 0
  }
}`
