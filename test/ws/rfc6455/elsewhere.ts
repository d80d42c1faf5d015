/**
 * All sections of RFC 6455 that ask for something, and why some have no row. Sections that ask nothing of a server, or
 * whose demand depends on the reader (introductions, requirements on proxies and browsers, registries), are named here.
 */

/** Every section from 3 to 11, the leaves only, and the example of 1.3. */
export const sections: readonly string[] = [
  '1.3', '3', '4.1', '4.2.1', '4.2.2', '4.3', '4.4', '5.1', '5.2', '5.3', '5.4', '5.5', '5.5.1', '5.5.2', '5.5.3',
  '5.6', '5.7', '5.8', '6.1', '6.2', '7.1.1', '7.1.2', '7.1.3', '7.1.4', '7.1.5', '7.1.6', '7.1.7', '7.2.1', '7.2.2',
  '7.2.3', '7.3', '7.4', '7.4.1', '7.4.2', '8.1', '9.1', '9.2', '10.1', '10.2', '10.3', '10.4', '10.5', '10.6', '10.7',
  '10.8', '11',
]

export const withoutRow: Readonly<Record<string, string>> = {
  '3': 'the form of ws: addresses is a matter of clients; the target of a request is read by http/target',
  '4.3': 'the grammar of 4.2.1, 4.2.2 and 9.1, whose rows hold it',
  '5.8': 'only says what extensions may do; reserved bits and opcodes are rows of 5.2',
  '7.1.1': 'the server ends the TCP connection first: test/ws/connection-close.test.ts, over TCP',
  '7.1.4': 'a definition; what it calls clean is a row of 7.1.5',
  '7.2.2': 'a refused handshake ends the connection: the rows of 4.2.1 read to its end',
  '7.2.3': 'reconnecting is the work of clients; the one of the tests does not reconnect',
  '9.2': 'the one extension that is known has tables of its own: test/ws/rfc7692.test.ts',
  '10.1': 'advice: no input is trusted, see test/fuzz/ws.test.ts',
  '10.2': 'Host and Origin are checked before the handshake: test/e2e/socket-opening.test.ts',
  '10.3': 'masking is the duty of clients; that the server insists on it is a row of 5.1',
  '10.5': 'keys and cookies: test/e2e/socket-opening.test.ts',
  '10.6': 'TLS is the work of the proxy in front',
  '10.7': 'advice on data that is not valid: the rows of 5 and 8',
  '10.8': 'SHA-1 is used as the handshake demands, and not for secrecy',
  '11': 'registries; the close codes of today are rows of 7.4',
}

/** The demands on an endpoint that are met differently, on purpose. */
export const differently: Readonly<Record<string, string>> = {
  '5.5.2': 'a Ping that comes after our own Close frame is not answered: section 1.4 says that nothing is sent after ' +
    'it',
  '7.1.5': 'the owner is told the code of the first Close frame of either side, because ours says why we closed',
}
