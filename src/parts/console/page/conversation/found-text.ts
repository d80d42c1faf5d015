/** Selects a text that a search has found. */

/** Selects the first occurrence of `words`, ignoring case, and scrolls to it. Words across text nodes are not found. */
export function selectFound(place: Element, words: string): void {
  const wanted = words.toLowerCase()
  const nodes = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const at = node.nodeValue?.toLowerCase().indexOf(wanted) ?? -1
    if (at < 0) continue
    node.parentElement?.scrollIntoView({ block: 'center' })
    getSelection()?.setBaseAndExtent(node, at, node, Math.min(at + words.length, node.nodeValue?.length ?? 0))
    // The words can be far down in the text node, so the scrolling elements around it are scrolled to the words too.
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
