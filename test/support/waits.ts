/** The conditions that this process waits for at the moment, so that a test that is not done in time can name them. */
export const openWaits = new Set<string>()
