import { type RequestListener, type Server } from 'node:http';
import { addressPrefixOf } from '../admission/address-prefix';
import { hasOpenBody } from './request-bodies';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';

/**
 * Starts only one request with a body below `/auth/` per turn of the event loop, and serves addresses in turn. The
 * callers of these requests are unknown, and hundreds may arrive in one turn. The framework needs 0.2 ms of CPU for
 * each before it waits for a slot, so 500 of them delayed all other requests by 80 ms.
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
    // Behind a trusted proxy this is the address of the proxy. The later queue for a slot uses the address of the
    // client.
    void turns.run({ key: addressPrefixOf(request.socket.remoteAddress ?? '') }, async () => {
      await quietTurn();
      if (!request.destroyed) handle(request, response);
    });
  });
}
