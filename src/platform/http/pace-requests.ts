import { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { addressPrefixOf } from '../admission/address-prefix';
import { hasOpenBody } from './request-bodies';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';

/**
 * How many requests may begin in one turn of the event loop. The framework needs 0.2 ms of CPU for each, and a refusal
 * 0.3 ms: 1,000 requests without credentials that arrived in one turn delayed all others by 300 to 500 ms.
 */
const AT_ONCE = 16;

/**
 * Starts only so many requests per turn of the event loop, and only one with a body below `/auth/`. The other requests
 * wait, and addresses are served in turn.
 */
export function paceRequests(server: Server): void {
  const logins = queueOf(1);
  const others = queueOf(AT_ONCE);
  let begun = 0;
  const [handle] = server.listeners('request') as RequestListener[];
  if (handle === undefined) throw new Error('The server handles no requests yet');
  server.removeListener('request', handle);
  server.on('request', (request, response) => {
    const isLogin = hasOpenBody(request);
    if (!isLogin && others.waiting === 0 && begun < AT_ONCE) {
      if (begun++ === 0)
        setImmediate(() => {
          begun = 0;
        });
      handle(request, response);
      return;
    }
    void (isLogin ? logins : others).run({ key: addressOf(request) }, async () => {
      await quietTurn();
      if (!request.destroyed) handle(request, response);
    });
  });
}

const queueOf = (permits: number): Slots => new Slots({ permits, longestWaitMilliseconds: Infinity, busyMessage: '' });

/**
 * Behind a trusted proxy this is the address of the proxy. The queues for slots, which come later, use the address of
 * the client.
 */
const addressOf = ({ socket }: IncomingMessage): string => addressPrefixOf(socket.remoteAddress ?? '');
