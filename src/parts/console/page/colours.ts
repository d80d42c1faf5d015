/** The colours of the page: as in the system, light or dark. The browser stores the person's choice. */
const choiceName = 'agent-server-colours'

/** The choices with their labels. The name of a choice is the value of the attribute `data-colours` of the page. */
export const colourChoices = [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']] as const

export function chosenColours(): string {
  return localStorage.getItem(choiceName) ?? 'system'
}

/** Shows the page in the chosen colours. */
export function applyColours(): void {
  document.documentElement.dataset['colours'] = chosenColours()
}

export function chooseColours(choice: string): void {
  localStorage.setItem(choiceName, choice)
  applyColours()
}
