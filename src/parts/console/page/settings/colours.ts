/** The section for the colours of the page in this browser. */
import { chooseColours, chosenColours, colourChoices } from '../colours.ts'
import { element, fill } from '../dom.ts'
import { field } from '../widgets.ts'

export async function showColours(root: HTMLElement): Promise<void> {
  const current = chosenColours()
  const select = element('select', { onchange: () => chooseColours(select.value) },
    colourChoices.map(([value, label]) => element('option', { value, selected: value === current }, label)))
  fill(root, field('Colours', select, 'For this browser only.'))
}
