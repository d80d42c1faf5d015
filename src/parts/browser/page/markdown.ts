/**
 * A script for pages: converts the visible text of a document to Markdown. It runs in the isolated world of a frame.
 *
 * Inner frames are left out. An element deeper than `limits.depth` gives its text without Markdown, also hidden text.
 */
export const readMarkdown = String.raw`
function (limits, withLinks) {
  const skipped = new Set([
    'SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'svg', 'HEAD', 'IFRAME', 'CANVAS', 'OBJECT', 'AUDIO', 'VIDEO',
    'SELECT',
  ])
  const blocks = new Set([
    'ADDRESS', 'ARTICLE', 'ASIDE', 'DD', 'DETAILS', 'DIALOG', 'DIV', 'DL', 'DT', 'FIELDSET', 'FIGCAPTION',
    'FIGURE', 'FOOTER', 'FORM', 'HEADER', 'LEGEND', 'MAIN', 'NAV', 'OL', 'P', 'SECTION', 'SUMMARY', 'UL'])
  const numbers = new Map()
  const lineMark = '\u0001'
  const deadline = performance.now() + limits.timeMs
  let left = limits.chars
  let looked = 0
  const text = document.body ? render(document.body, 0) : ''
  const tidy = text.replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n').replaceAll(lineMark, '\n').trim()
  return { title: document.title.slice(0, 500), url: location.href, text: tidy, isComplete: left > 0 }

  function render(node, depth) {
    if (left <= 0) return ''
    if (++looked % 200 === 0 && performance.now() > deadline) left = 0
    if (node.nodeType === Node.TEXT_NODE) return take(node.data.replace(/\s+/g, ' '))
    if (node.nodeType !== Node.ELEMENT_NODE || skipped.has(node.tagName)) return ''
    const hasBox = node.tagName !== 'SLOT' && getComputedStyle(node).display !== 'contents'
    if (hasBox && !node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return ''
    if (depth > limits.depth) return take((node.textContent || '').replace(/\s+/g, ' '))
    return element(node, depth + 1)
  }

  function take(text) {
    const taken = text.slice(0, left)
    left -= taken.length
    return taken
  }

  function inner(node, depth) {
    const slotted = node.tagName === 'SLOT' ? node.assignedNodes({ flatten: true }) : []
    const children = node.shadowRoot ? node.shadowRoot.childNodes : slotted.length > 0 ? slotted : node.childNodes
    let text = ''
    for (const child of children) text += render(child, depth)
    return text
  }

  function element(node, depth) {
    const { tagName } = node
    if (/^H[1-6]$/.test(tagName)) return heading(Number(tagName[1]), oneLine(inner(node, depth)))
    switch (tagName) {
      case 'BR': return '\n'
      case 'HR': return block('---')
      case 'PRE': return block(fence(take(node.innerText)))
      case 'CODE': return wrap(oneLine(inner(node, depth)), String.fromCharCode(96))
      case 'STRONG': case 'B': return wrap(inner(node, depth), '**')
      case 'EM': case 'I': return wrap(inner(node, depth), '*')
      case 'A': return link(node, inner(node, depth))
      case 'IMG': return node.alt ? take('![' + node.alt.trim() + ']') : ''
      case 'BLOCKQUOTE': return block(inner(node, depth).trim().replace(/\n+/g, '\n').replace(/^/gm, '> '))
      case 'LI': return '\n' + bullet(node) + inner(node, depth).trim().replace(/\n+/g, '\n  ')
      case 'TABLE': return block(table(node, depth))
      case 'TEXTAREA': return take('[' + node.value + ']')
      case 'INPUT':
        if (['hidden', 'password', 'checkbox', 'radio', 'file'].includes(node.type) || node.value === '') return ''
        return take('[' + node.value + ']')
      default: return blocks.has(tagName) ? block(inner(node, depth)) : inner(node, depth)
    }
  }

  function heading(level, text) {
    return text === '' ? '' : block('#'.repeat(level) + ' ' + text)
  }

  function block(text) {
    return '\n\n' + text.trim() + '\n\n'
  }

  function oneLine(text) {
    return text.replace(/\s+/g, ' ').trim()
  }

  function wrap(text, mark) {
    const trimmed = text.trim()
    return trimmed === '' || trimmed.includes('\n') ? text : text.replace(trimmed, () => mark + trimmed + mark)
  }

  function fence(text) {
    const mark = String.fromCharCode(96).repeat(3)
    return (mark + '\n' + text.replace(/\n$/, '') + '\n' + mark).replaceAll('\n', lineMark)
  }

  function link(node, text) {
    const label = oneLine(text)
    if (!withLinks || !node.href || !/^(https?|mailto|file):/.test(node.href)) return text
    return label === '' ? '' : '[' + label + '](' + take(node.href.slice(0, 1000)) + ')'
  }

  function bullet(node) {
    const list = node.parentElement
    if (!list || list.tagName !== 'OL') return '- '
    const number = numbers.has(list) ? numbers.get(list) + 1 : list.start
    numbers.set(list, number)
    return number + '. '
  }

  function table(node, depth) {
    const cellText = (cell) => oneLine(render(cell, depth)).replaceAll('|', '\\|')
    const rows = [...node.rows].map((row) => [...row.cells].map(cellText))
    const filled = rows.filter((cells) => cells.some((cell) => cell !== ''))
    const lines = filled.map((cells) => '| ' + cells.join(' | ') + ' |')
    if (filled.length > 1) lines.splice(1, 0, '|' + ' --- |'.repeat(filled[0].length))
    return lines.join('\n')
  }
}`
