/**
 * A script for pages: finds the elements that can be clicked or typed into, and describes them. It runs in the isolated
 * world of a frame.
 */
export const findElements = String.raw`
function (limits) {
  const roles = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox',
    'menuitemradio', 'option', 'combobox', 'textbox', 'searchbox', 'slider', 'spinbutton', 'treeitem', 'gridcell'])
  const tags = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'SUMMARY', 'AUDIO', 'VIDEO'])
  const deadline = performance.now() + limits.timeMs
  const found = []
  const items = []
  const counts = { above: 0, below: 0, unseen: 0 }
  let looked = 0
  let isComplete = true
  visit(document)
  globalThis.agentElements = found
  const root = document.scrollingElement || document.documentElement
  return {
    title: document.title.slice(0, limits.textChars), url: location.href, state: document.readyState,
    items, counts, isComplete,
    above: Math.round(root ? root.scrollTop : 0),
    below: Math.round(root ? root.scrollHeight - root.scrollTop - innerHeight : 0),
  }

  function visit(node) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_ELEMENT)
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      if (++looked % 200 === 0 && performance.now() > deadline) isComplete = false
      if (!isComplete) return
      consider(element)
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }

  function consider(element) {
    const isMarked = isMarkedInteractive(element)
    if (!isMarked && !isPointed(element)) return
    const place = placeOf(element)
    if (place === 'near') {
      if (!isVisible(element)) return
      if (items.length >= limits.items) return void counts.unseen++
      found.push(element)
      items.push(describe(element))
    } else if (place !== 'none') counts[place]++
  }

  function isMarkedInteractive(element) {
    if (tags.has(element.tagName)) return element.type !== 'hidden'
    if (element.tagName === 'A' || element.tagName === 'AREA') {
      return element.hasAttribute('href') || element.hasAttribute('onclick')
    }
    if (element.isContentEditable) return !element.parentElement || !element.parentElement.isContentEditable
    return roles.has(element.getAttribute('role')) || element.hasAttribute('onclick') ||
      (element.hasAttribute('tabindex') && element.tabIndex >= 0)
  }

  /**
   * True for an element in or near the viewport whose cursor is a pointing hand, as for links. False when its parent
   * has this cursor too, and for the label of a field.
   */
  function isPointed(element) {
    if (!isNear(element) || getComputedStyle(element).cursor !== 'pointer') return false
    const parent = element.parentElement || (element.parentNode && element.parentNode.host)
    if (!parent || getComputedStyle(parent).cursor === 'pointer') return false
    return element.tagName !== 'LABEL' || !element.control
  }

  function isNear(element) {
    return placeOf(element) === 'near'
  }

  function placeOf(element) {
    const { width, height, top, bottom } = element.getBoundingClientRect()
    if (width === 0 || height === 0) return 'none'
    if (bottom < -limits.nearPx) return 'above'
    return top > innerHeight + limits.nearPx ? 'below' : 'near'
  }

  function isVisible(element) {
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
  }

  function describe(element) {
    const { tagName, type } = element
    const role = element.getAttribute('role') || ''
    const item = { tag: tagName.toLowerCase(), role, name: nameOf(element), notes: [] }
    if (tagName === 'INPUT') item.type = type
    if (tagName === 'A') item.href = element.href.slice(0, limits.textChars)
    if (type === 'checkbox' || type === 'radio') item.notes.push(element.checked ? 'checked' : 'not checked')
    else if (tagName === 'INPUT' || tagName === 'TEXTAREA') item.value = valueOf(element)
    if (tagName === 'SELECT') {
      item.value = [...element.selectedOptions].map((option) => option.label).join(', ').slice(0, limits.textChars)
      const shown = [...element.options].slice(0, limits.options)
      item.options = shown.map((option) => option.label.slice(0, limits.textChars))
      const more = element.options.length - limits.options
      if (more > 0) item.notes.push(more + ' more options')
    }
    for (const name of ['checked', 'expanded', 'selected', 'pressed']) {
      const value = element.getAttribute('aria-' + name)
      const note = value === 'true' ? name : value === 'false' ? 'not ' + name : name + ' ' + (value || '').slice(0, 20)
      if (value) item.notes.push(note)
    }
    if (element.disabled || element.getAttribute('aria-disabled') === 'true') item.notes.push('disabled')
    if (element.readOnly) item.notes.push('read-only')
    if (element.required) item.notes.push('required')
    return item
  }

  function valueOf(element) {
    if (element.type === 'password') return element.value === '' ? '' : '(hidden)'
    return element.value.slice(0, limits.textChars)
  }

  function nameOf(element) {
    const names = [
      () => element.getAttribute('aria-label'),
      () => (element.getAttribute('aria-labelledby') || '').split(/\s+/).map(textOfId).join(' '),
      () => element.labels && [...element.labels].map((label) => label.innerText).join(' '),
      () => (element.tagName === 'INPUT' && ['submit', 'button', 'reset'].includes(element.type) ? element.value : ''),
      () => element.tagName === 'SELECT' || element.tagName === 'TEXTAREA' ? '' : element.innerText,
      () => element.getAttribute('alt') || (element.querySelector('img[alt]') || { alt: '' }).alt,
      () => element.getAttribute('title'),
      () => element.getAttribute('placeholder'),
      () => element.getAttribute('name') || element.id,
    ]
    for (const name of names) {
      const text = (name() || '').trim()
      if (text !== '') return text.slice(0, limits.textChars)
    }
    return ''
  }

  function textOfId(id) {
    const element = id === '' ? null : document.getElementById(id)
    return element ? element.innerText || '' : ''
  }
}`

/**
 * A script that returns the element at an index of the list that `findElements` made last in this frame. Returns null
 * for an index without an element, and for an element that is no longer on the page.
 */
export const elementAt = String.raw`
function (index) {
  const element = globalThis.agentElements && globalThis.agentElements[index]
  return element && element.isConnected ? element : null
}`
