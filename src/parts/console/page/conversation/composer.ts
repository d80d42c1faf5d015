/**
 * The form in which a person writes a message with images; Enter sends it. Unsent text is kept in `localStorage` for
 * each conversation.
 */
import { element, fill, icon } from '../dom.ts'
import type { ConversationActions, SentImage } from './actions.ts'
import { button } from './controls.ts'

/** The most bytes of an image that is sent. */
const imageLimit = 5 * 1024 * 1024
const plus = 'M8 3v10M3 8h10'
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

export class Composer {
  readonly root: HTMLElement
  readonly #actions: ConversationActions
  readonly #tell: (problem: string) => void
  readonly #draftName: string
  readonly #text = element('textarea', {
    class: 'composer-text', rows: '1', 'aria-label': 'Message', placeholder: 'Message the agent', dir: 'auto',
  })
  readonly #pictures = element('div', { class: 'composer-pictures' })
  readonly #send = element('button', { type: 'submit', class: 'primary' }, 'Send')
  readonly #stop: HTMLButtonElement
  readonly #resume: HTMLButtonElement
  #images: SentImage[] = []
  #isSending = false

  constructor(id: string, actions: ConversationActions, tell: (problem: string) => void) {
    this.#actions = actions
    this.#tell = tell
    this.#draftName = `agent-server-draft-${id}`
    this.#stop = button('stop', 'Stop', () => void actions.stop(), { hidden: true, title: 'Stop (Esc)' })
    this.#resume = button('', 'Resume', () => void actions.run(), { hidden: true, title: 'Resume (r)' })
    const file = element('input', { type: 'file', accept: imageTypes.join(','), multiple: true, hidden: true })
    file.addEventListener('change', () => {
      this.#add([...file.files ?? []])
      file.value = ''
    })
    const words = { title: 'Add images', 'aria-label': 'Add images' }
    const attach = button('quiet-button', icon(plus), () => file.click(), words)
    this.root = element('form', { class: 'composer', onsubmit: (event) => this.#submit(event) },
      this.#pictures, element('div', { class: 'composer-row' }, file, attach, this.#text, this.#resume, this.#stop,
        this.#send))
    this.#listen()
    this.#text.value = localStorage.getItem(this.#draftName) ?? ''
    requestAnimationFrame(() => this.#resize())
  }

  /** Puts a text into the box, for the person to change and send. */
  edit(text: string): void {
    this.#text.value = text
    this.#changed()
    this.#text.focus()
  }

  focus(): void {
    this.#text.focus()
  }

  /** While the agent works, shows `Stop`, and `Queue` in place of `Send`. While it is paused, shows `Resume`. */
  show(isWorking: boolean, isPaused: boolean): void {
    this.#resume.hidden = !isPaused
    this.#stop.hidden = !isWorking
    this.#send.textContent = isWorking ? 'Queue' : 'Send'
    this.#text.placeholder = isWorking ? 'Message for later' : 'Message the agent'
  }

  #listen(): void {
    this.#text.addEventListener('input', () => this.#changed())
    this.#text.addEventListener('keydown', (event) => {
      // Enter sends the message, but not with Shift, and not while an input method composes a word.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      void this.#sendNow()
    })
    this.#text.addEventListener('paste', (event) => {
      const files = [...event.clipboardData?.files ?? []]
      if (files.length === 0) return
      event.preventDefault()
      this.#add(files)
    })
    this.root.addEventListener('dragover', (event) => event.preventDefault())
    this.root.addEventListener('drop', (event) => {
      event.preventDefault()
      this.#add([...event.dataTransfer?.files ?? []])
    })
  }

  #changed(): void {
    if (this.#text.value === '') localStorage.removeItem(this.#draftName)
    else localStorage.setItem(this.#draftName, this.#text.value)
    this.#resize()
  }

  #resize(): void {
    this.#text.style.height = 'auto'
    this.#text.style.height = `${Math.min(this.#text.scrollHeight + 2, innerHeight * 0.4)}px`
  }

  #submit(event: Event): void {
    event.preventDefault()
    void this.#sendNow()
  }

  async #sendNow(): Promise<void> {
    const text = this.#text.value.trim()
    if (this.#isSending || text === '' && this.#images.length === 0) return
    this.#isSending = true
    this.#send.disabled = true
    const images = this.#images
    const isSent = await this.#actions.send(text, images)
    this.#isSending = false
    this.#send.disabled = false
    if (!isSent) return
    this.#images = this.#images.filter((image) => !images.includes(image))
    this.#showPictures()
    if (this.#text.value.trim() !== text) return // Keep the text: the person has changed it during the request.
    this.#text.value = ''
    this.#changed()
  }

  #add(files: readonly File[]): void {
    for (const file of files) {
      if (!imageTypes.includes(file.type)) this.#tell(`${file.name} is no PNG, JPEG, GIF or WebP image`)
      else if (file.size > imageLimit) this.#tell(`${file.name} is larger than 5 MiB`)
      else this.#read(file)
    }
  }

  #read(file: File): void {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      if (typeof reader.result !== 'string') return
      this.#images = [...this.#images, { name: file.name, url: reader.result }]
      this.#showPictures()
    })
    reader.readAsDataURL(file)
  }

  #showPictures(): void {
    fill(this.#pictures, this.#images.map((image) => {
      const remove = (): void => {
        this.#images = this.#images.filter((other) => other !== image)
        this.#showPictures()
      }
      return element('span', { class: 'composer-picture' }, element('img', { src: image.url, alt: image.name }),
        button('', '×', remove, { 'aria-label': `Remove ${image.name}` }))
    }))
  }
}
