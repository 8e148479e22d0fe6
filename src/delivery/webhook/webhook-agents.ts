import { Agent as HttpAgent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

export interface WebhookAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Bytes that a connection had received when it was given to its present request. */
const receivedBefore = new WeakMap<Duplex, number>();

/** Connections that stay open while idle for `keepAliveSeconds`; 0 makes one for each request. */
export function webhookAgents(keepAliveSeconds: number, lookup: AgentOptions['lookup']): WebhookAgents {
  const options: AgentOptions = {
    keepAlive: keepAliveSeconds > 0,
    // The agent ends a connection that idles longer, or earlier when the peer's Keep-Alive header says so.
    ...(keepAliveSeconds > 0 ? { timeout: keepAliveSeconds * 1000 } : {}),
    ...(lookup === undefined ? {} : { lookup }),
  };
  return { http: markingReuse(new HttpAgent(options)), https: markingReuse(new HttpsAgent(options)) };
}

/**
 * Whether the request went out on a connection that its peer was closing: it was used before, and nothing came back.
 */
export function metClosingConnection(request: ClientRequest | undefined): boolean {
  const socket = request?.socket ?? undefined;
  return request?.reusedSocket === true && socket !== undefined && receivedBefore.get(socket) === socket.bytesRead;
}

function markingReuse<A extends HttpAgent>(agent: A): A {
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    receivedBefore.set(socket, (socket as Socket).bytesRead);
    reuse(socket, request);
  };
  return agent;
}
