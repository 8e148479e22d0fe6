import { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { addressPrefixOf } from '../admission/address-prefix';
import { TurnPace } from '../admission/turn-pace';
import { hasOpenBody } from './request-bodies';

/**
 * How many requests may begin in one turn of the event loop. Each needs 0.3 to 1 ms of CPU before it waits for the
 * database: 1,000 requests without credentials in one turn delayed all others by 300 to 500 ms.
 */
const AT_ONCE = 4;

/**
 * Starts only so many requests per turn of the event loop, and only one with a body below `/auth/`. The other requests
 * wait, and addresses are served in turn.
 */
export function paceRequests(server: Server): void {
  const logins = new TurnPace(1);
  const others = new TurnPace(AT_ONCE);
  const [handle] = server.listeners('request') as RequestListener[];
  if (handle === undefined) throw new Error('The server handles no requests yet');
  server.removeListener('request', handle);
  server.on('request', (request, response) => {
    const turn = (hasOpenBody(request) ? logins : others).turnFor(() => ({ caller: addressOf(request) }));
    if (turn === undefined) handle(request, response);
    else
      void turn.then(() => {
        if (!request.destroyed) handle(request, response);
      });
  });
}

/**
 * Behind a trusted proxy this is the address of the proxy. The queues for slots, which come later, use the address of
 * the client.
 */
const addressOf = ({ socket }: IncomingMessage): string => addressPrefixOf(socket.remoteAddress ?? '');
