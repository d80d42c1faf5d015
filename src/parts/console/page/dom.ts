/**
 * Makes elements. Text becomes text nodes, so that no text is read as HTML.
 *
 * An attribute with an unsafe address (`safe-address.ts`) is left out. The page's Content-Security-Policy refuses the
 * attribute `style`.
 */
import { isSafeAddress } from './safe-address.ts'

export type Child = Node | string | number | undefined | null | false | readonly Child[]

/**
 * Attributes by name. A function is an event listener, with a name such as `onclick`. `true` sets an empty attribute;
 * false and undefined leave the attribute out or remove it.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>

const addresses = ['href', 'src', 'action', 'formaction', 'data', 'poster']

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name, attributes: Attributes = {}, ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  setAttributes(made, attributes)
  append(made, children)
  return made
}

/** Sets or removes attributes of an element, and adds listeners. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') target.addEventListener(name.replace(/^on/, ''), value)
    else if (value === undefined || value === false || addresses.includes(name) && !isSafe(String(value))) {
      target.removeAttribute(name)
    } else target.setAttribute(name, value === true ? '' : String(value))
  }
}

/** Replaces all children of an element. */
export function fill(target: Element, ...children: readonly Child[]): void {
  target.replaceChildren()
  append(target, children)
}

const svgNamespace = 'http://www.w3.org/2000/svg'

/** Returns a line icon of 16 by 16 units, hidden from screen readers. `path` is the attribute `d` of its SVG path. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg')
  const line = document.createElementNS(svgNamespace, 'path')
  setAttributes(svg, { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true' })
  setAttributes(line, { d: path })
  svg.append(line)
  return svg
}

function isSafe(address: string): boolean {
  return isSafeAddress(address, document.baseURI)
}

function append(target: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue
    if (typeof child === 'string' || typeof child === 'number') target.append(String(child))
    else if (child instanceof Node) target.append(child)
    else append(target, child)
  }
}
