/** The version of this package. A test compares it with package.json, so no file is read at run time. */
export const version = '0.1.0'
