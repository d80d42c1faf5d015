/** Selects a text that a search has found in an element, and scrolls to it. */

/**
 * Selects the first occurrence of `words` within one text node, ignoring case, and scrolls to it. Words that are spread
 * over several nodes are not found.
 */
export function selectFound(place: Element, words: string): void {
  const wanted = words.toLowerCase()
  const nodes = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const at = node.nodeValue?.toLowerCase().indexOf(wanted) ?? -1
    if (at < 0) continue
    node.parentElement?.scrollIntoView({ block: 'center' })
    getSelection()?.setBaseAndExtent(node, at, node, Math.min(at + words.length, node.nodeValue?.length ?? 0))
    // Each scrolling box between `place` and the words is scrolled to the words, because the text node can be long.
    scrollBoxes(place, getSelection()?.getRangeAt(0))
    return
  }
}

function scrollBoxes(place: Element, range: Range | undefined): void {
  if (range === undefined) return
  for (let box = range.startContainer.parentElement; box !== null && box !== place; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight) continue
    const { top } = box.getBoundingClientRect()
    box.scrollTop += range.getBoundingClientRect().top - top - box.clientHeight / 2
  }
}
