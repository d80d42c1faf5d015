/** Scripts that prepare an element for text and read its value. They run in the isolated world of a frame. */

/**
 * Focuses the element. Selects the content of a text field, so that inserted text replaces the content. Sets drop-down
 * lists, dates and similar fields to the text. Returns a `problem` for an element that does not accept the text.
 */
export const prepareTyping = String.raw`
function (text) {
  const { tagName } = this
  const type = tagName === 'INPUT' ? this.type : ''
  if (this.disabled || this.readOnly) return { problem: this.disabled ? 'it is disabled' : 'it is read-only' }
  if (tagName === 'SELECT') return choose(this)
  if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image'].includes(type)) {
    return { problem: 'it is a ' + type + '; click it instead' }
  }
  if (type === 'file') return { problem: 'it takes a file, and the browser can give none' }
  if (['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(type)) return assign(this)
  if (tagName !== 'INPUT' && tagName !== 'TEXTAREA' && !this.isContentEditable) return { problem: 'it takes no text' }
  this.focus()
  if (this.isContentEditable) getSelection().selectAllChildren(this)
  else this.select()
  return { isReady: true, isSingleLine: tagName === 'INPUT' }

  function choose(list) {
    const wanted = text.trim()
    const options = [...list.options]
    const option = options.find(({ label }) => label.trim() === wanted) || options.find(({ value }) => value === wanted)
    if (!option) {
      const names = options.slice(0, 20).map(({ label }) => JSON.stringify(label.trim().slice(0, 80))).join(', ')
      return { problem: 'it has no such option, expected one of ' + names }
    }
    if (option.disabled) return { problem: 'that option is disabled' }
    list.focus()
    list.value = option.value
    if (list.selectedOptions[0] !== option) list.selectedIndex = options.indexOf(option)
    return tell(list)
  }

  function assign(field) {
    const before = field.value
    field.focus()
    field.value = text.trim()
    if (field.value === '' && text.trim() !== '') {
      field.value = before
      return { problem: 'a field of the type ' + type + ' does not take this value' }
    }
    return tell(field)
  }

  function tell(field) {
    for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true, composed: true }))
    return { isDone: true }
  }
}`

/**
 * Returns the value of the element, cut at `limitChars`; for a drop-down list the label of the chosen option, and for
 * a password field only the length of its value.
 */
export const valueNow = String.raw`
function (limitChars) {
  if (this.type === 'password') return '(hidden, ' + this.value.length + ' characters)'
  if (this.tagName === 'SELECT') return this.selectedOptions[0] ? this.selectedOptions[0].label : ''
  return String(this.isContentEditable ? this.innerText : this.value).slice(0, limitChars)
}`
