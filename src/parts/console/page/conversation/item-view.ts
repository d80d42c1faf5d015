/** Draws one item of the history, such as a message or the calls of one response. */
import { element, type Child } from '../dom.ts'
import { objectsAt, contentImages, contentText } from './fields.ts'
import { memberAt, textAt } from '../values.ts'
import { describeCall, resultOnly, subjectIn } from './call-pieces.ts'
import { imageView } from './image-view.ts'
import { markdownView } from './markdown-view.ts'
import type { Piece } from './piece.ts'
import { pieceView } from './piece-view.ts'
import { textNodes } from './text-nodes.ts'
import { cutText, folded, jsonView, shownChars } from './text-view.ts'
import { durationText, timeText } from './words.ts'
import { durationOf, statusOf, type Call, type CallStatus, type Item, type StoredEvent } from './timeline.ts'

export type MakeMenu = (event: StoredEvent) => HTMLElement

/** Draws an item. In the line of a call, a path inside the workspace `folder` is shown relative to `folder`. */
export function itemView(item: Item, menu: MakeMenu, folder = ''): HTMLElement {
  const { event } = item
  const row = (name: string, ...children: readonly Child[]): HTMLElement => {
    return element('article', { class: `event-item ${name}`, id: `e-${item.key}`, tabindex: '-1' }, children)
  }
  switch (item.type) {
    case 'message': return row(`message from-${event.source}`, head(senderOf(event), event, menu), messageBody(event))
    case 'calls':
      return row('calls', callsHead(item.calls, event, menu), thoughts(event.body),
        item.calls.map((call) => callView(call, folder)))
    case 'result':
      return row('calls', head('Result of an earlier call', event, menu), resultOnly(event.body).map(pieceView))
    case 'error':
      return row('error', head(`Error: ${item.code}`, event, menu),
        element('p', { dir: 'auto' }, textNodes(item.detail)))
    case 'note':
      return row(item.isQuiet ? 'note quiet' : 'note', element('span', { dir: 'auto' }, textNodes(item.text)),
        element('span', { class: 'tail' }, timeOf(event), menu(event)))
    case 'unknown': return row('unknown', head(event.kind, event, menu), jsonView(event.body))
  }
}

function head(name: string, event: StoredEvent, menu: MakeMenu): HTMLElement {
  return element('header', { class: 'item-head' }, element('span', { class: 'who' }, textNodes(name)),
    element('span', { class: 'tail' }, timeOf(event), menu(event)))
}

function callsHead(calls: readonly Call[], event: StoredEvent, menu: MakeMenu): HTMLElement {
  const isNamed = calls.length > 1
  const name = isNamed ? `${calls.length} calls of one response` : ''
  const kind = isNamed ? 'is-named' : ''
  return element('header', { class: `item-head calls-head ${kind}` }, element('span', { class: 'soft' }, name),
    element('span', { class: 'tail' }, timeOf(event), menu(event)))
}

function timeOf({ timestamp }: StoredEvent): HTMLElement {
  return element('time', { datetime: timestamp, title: timestamp }, timeText(timestamp))
}

function senderOf({ source, body }: StoredEvent): string {
  const sender = textAt(body, 'sender')
  if (sender !== '') return sender
  return source === 'user' ? 'You' : source === 'agent' ? 'Agent' : 'Server'
}

/** The mark at the end of an answer that was cut off (contract/events.md, section 5). */
const cutMark = '[The answer was cut off here.]'

function messageBody({ body, source }: StoredEvent): Child {
  const message = memberAt(body, 'llm_message')
  const whole = contentText(message, 'content')
  const isCut = source === 'agent' && whole.endsWith(cutMark)
  const text = isCut ? whole.slice(0, -cutMark.length).trimEnd() : whole
  const extended = contentText(body, 'extended_content')
  const isLong = text.length > shownChars * 5
  return [
    thoughts(message),
    text === '' ? undefined : isLong || source === 'environment' ? wholeText(text) : markdownView(text),
    isCut ? element('p', { class: 'cut-off' }, 'The answer was cut off here') : undefined,
    contentImages(message, 'content').map((src, index) => imageView(src, `Image ${index + 1}`)),
    extended === '' ? undefined : folded('Added context', () => wholeText(extended)),
  ]
}

function wholeText(text: string): HTMLElement {
  return cutText(text, (part) => element('pre', { class: 'plain', dir: 'auto' }, textNodes(part)))
}

/** Draws the folded reasoning of an action or a message, then its `thought`. */
function thoughts(value: unknown): Child {
  const said = contentText(value, 'thought')
  const blocks = objectsAt(value, 'thinking_blocks').map((block) => textAt(block, 'thinking'))
  const reasoning = [textAt(value, 'reasoning_content'), ...blocks].filter((text) => text !== '')
  const [first = ''] = reasoning
  return [
    first === '' ? undefined : thoughtView(blocks.length > 0 ? blocks.join('\n\n') || first : first),
    said === '' ? undefined : markdownView(said),
  ]
}

export function thoughtView(text: string): HTMLElement {
  return folded(element('span', { class: 'thought-name' }, 'Thought'), () => markdownView(text), { class: 'thought' })
}

const words: Readonly<Record<CallStatus, string>> = {
  open: 'no result yet', done: 'done', failed: 'failed', rejected: 'rejected', blocked: 'blocked by a hook',
  cancelled: 'cancelled',
}

function callView(call: Call, folder: string): HTMLElement {
  const view = describeCall(call)
  const shown = subjectIn(folder, view)
  const status = statusOf(call)
  const duration = durationOf(call)
  const risk = textAt(call.action.body, 'security_risk')
  const facts = [...view.facts, duration === undefined || duration < 100 ? '' : durationText(duration)]
  const summary = [
    element('span', { class: 'sign', role: 'img', 'aria-label': words[status], title: words[status] }),
    element('span', { class: 'verb' }, textNodes(view.verb)),
    element('bdi', { class: 'subject', dir: 'ltr', title: view.subject }, textNodes(firstLine(shown))),
    status === 'open' || status === 'done' ? undefined : element('span', { class: 'word' }, words[status]),
    riskView(risk),
    element('span', { class: 'facts' }, facts.filter((fact) => fact !== '').join(' · ')),
  ]
  const attributes = { class: `call is-${status}`, open: view.isOpen }
  const pieces = view.pieces.filter((piece) => !isSubject(piece, view.subject))
  const row = pieces.length === 0
    ? element('div', { class: attributes.class }, element('div', { class: 'call-line' }, summary))
    : folded(summary, () => pieces.map(pieceView), attributes)
  row.dataset['events'] = `${call.action.id} ${call.result?.id ?? ''}`
  return row
}

/** Tells whether a piece is a command that the line of the call already shows whole, as its `subject`. */
function isSubject(piece: Piece, subject: string): boolean {
  return piece.type === 'command' && piece.text === subject && subject.length <= 80 && !/[\n\t]/.test(subject)
}

function riskView(risk: string): Child {
  if (risk !== 'MEDIUM' && risk !== 'HIGH') return undefined
  const name = risk.toLowerCase()
  return element('span', { class: `risk risk-${name}` }, `${name} risk`)
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n', 1)
  return line.length < text.length || line.length > 300 ? `${line.slice(0, 300)} …` : line
}
