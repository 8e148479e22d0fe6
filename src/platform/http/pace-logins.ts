import { type RequestListener, type Server } from 'node:http';
import { addressPrefixOf } from '../admission/address-prefix';
import { hasOpenBody } from './request-bodies';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';

/**
 * Starts requests with a body below `/auth/` one per turn of the event loop, in turns by address. Their callers are
 * unknown, and hundreds may arrive in one turn. Each costs the framework 0.2 ms before it waits for a slot, so 500 of
 * them delayed all other requests by 80 ms.
 */
export function paceLogins(server: Server): void {
  const turns = new Slots({ permits: 1, longestWaitMilliseconds: Infinity, busyMessage: '' });
  const [handle] = server.listeners('request') as RequestListener[];
  if (handle === undefined) throw new Error('The server handles no requests yet');
  server.removeListener('request', handle);
  server.on('request', (request, response) => {
    if (!hasOpenBody(request)) {
      handle(request, response);
      return;
    }
    // Behind a trusted proxy, the proxy's address counts here; the client's address counts in the queue for a slot.
    void turns.run({ key: addressPrefixOf(request.socket.remoteAddress ?? '') }, async () => {
      await quietTurn();
      if (!request.destroyed) handle(request, response);
    });
  });
}
