/**
 * The version of this package.
 *
 * A test holds it against package.json, so that nothing has to be read at run time.
 */
export const version = '0.1.0'
