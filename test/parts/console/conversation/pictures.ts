/** Images for tests. */

/** A PNG image of two colours, in base64. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAKAAAABaAQMAAAAFCM8RAAAABlBMVEVGbtzr8P+q767CAAAAJUlE' +
  'QVR42mMIxQIYBqHgKixgMAqOhudoeI6G52h4jobnaHiCAQBdSGy+oOkYFgAAAABJRU5ErkJggg=='
