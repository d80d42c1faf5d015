/** Draws the output of a command with its colours. Colours 0 to 15 are CSS classes; the others are set by script. */
import { element } from '../dom.ts'
import { terminalLines, type Colour, type Run } from './terminal.ts'
import { textNodes } from './text-nodes.ts'
import { cutText } from './text-view.ts'

export function terminalView(text: string): HTMLElement {
  return cutText(text, (part) => {
    const lines = terminalLines(part)
    const last = lines.length - 1
    const nodes = lines.flatMap((line, index) => [...line.map(runView), ...(index < last ? ['\n'] : [])])
    return element('pre', { class: 'terminal', dir: 'ltr', tabindex: '0' }, nodes)
  })
}

function runView({ text, style }: Run): HTMLElement | string {
  const { fg: front, bg: back, ...flags } = style
  const [fg, bg] = style.inverse === true ? [back, front] : [front, back]
  const words = Object.entries(flags).filter(([, isOn]) => isOn === true).map(([name]) => `t-${name}`)
  const colours = [bg === undefined ? '' : 't-on-colour', classOf('fg', fg), classOf('bg', bg)]
  const classes = [...colours, ...words].filter((name) => name !== '')
  const span = element('span', { class: classes.length === 0 ? undefined : classes.join(' ') }, textNodes(text))
  if (classes.length === 0 && fg === undefined && bg === undefined) return span
  if (fg !== undefined && classOf('fg', fg) === '') span.style.color = cssColour(fg)
  if (bg !== undefined && classOf('bg', bg) === '') span.style.backgroundColor = cssColour(bg)
  return span
}

function classOf(place: 'fg' | 'bg', colour: Colour | undefined): string {
  return typeof colour === 'number' && colour < 16 ? `t-${place}-${colour}` : ''
}

/** Returns the CSS colour of `#rrggbb` or of a palette number above 15: a cube of 216 colours, then 24 greys. */
function cssColour(colour: Colour): string {
  if (typeof colour === 'string') return colour
  if (colour >= 232) {
    const grey = 8 + (colour - 232) * 10
    return `rgb(${grey} ${grey} ${grey})`
  }
  const step = (part: number): number => (part === 0 ? 0 : 55 + part * 40)
  const at = colour - 16
  return `rgb(${step(Math.floor(at / 36))} ${step(Math.floor(at / 6) % 6)} ${step(at % 6)})`
}
