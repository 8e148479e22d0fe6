import { type Server, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { NO_SNIFFING } from '../../platform/http/security-headers';
import { type ErrorCode } from '../../platform/errors/error-codes';
import { KeptOn } from '../../platform/kept-on';
import { fatalOutcome } from './operation-outcome';

/**
 * Issues for the errors that Node reports before a request exists (https://nodejs.org/api/http.html#event-clienterror).
 */
const REFUSALS: Readonly<Record<string, readonly [status: string, issue: string, code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'too-long',
    'headers-too-large',
    'URL and headers together have more than 16 KiB. Send long searches with POST to /{type}/_search.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'timeout',
    'too-slow',
    'The request did not arrive in time. Send it again.',
  ],
};
const MALFORMED = ['400 Bad Request', 'structure', 'invalid', 'This is no request of HTTP/1.1.'] as const;

/**
 * Answers a request that Node cannot parse by an OperationOutcome. It comes after the answers to earlier requests of
 * the connection: otherwise a client would take it for the answer to one of these.
 * @param openResponsesOf returns the responses of a connection that have not ended, in the order of their requests
 */
export function refuseBrokenRequests(
  server: Server,
  openResponsesOf: (socket: Duplex) => readonly ServerResponse[],
): void {
  const waiting = new KeptOn<Duplex, true>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Node reports each further piece of the bytes that it cannot parse.
    if (waiting.get(socket) === true) return;
    // The broken request itself is among the responses if only its body is broken.
    const last = openResponsesOf(socket).findLast(({ req }) => req.complete);
    if (last === undefined) refuse(error, socket);
    else {
      waiting.set(socket, true);
      last.once('close', () => {
        refuse(error, socket);
      });
    }
  });
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, issue, code, message] = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify(fatalOutcome(issue, code, message));
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    NO_SNIFFING.join(': '),
    'Content-Type: application/fhir+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end([...head, '', body].join('\r\n'));
}
