import { Agent as HttpAgent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

export interface WebhookAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Bytes that a connection had received when its current request began. */
const receivedBefore = new WeakMap<Duplex, number>();

/** Agents with connections that stay open while idle for `keepAliveSeconds`; 0 opens one per request. */
export function webhookAgents(keepAliveSeconds: number, lookup: AgentOptions['lookup']): WebhookAgents {
  const options: AgentOptions = {
    keepAlive: keepAliveSeconds > 0,
    // The agent closes a connection that idles longer, or earlier if the peer's Keep-Alive header says so.
    ...(keepAliveSeconds > 0 ? { timeout: keepAliveSeconds * 1000 } : {}),
    ...(lookup === undefined ? {} : { lookup }),
  };
  return { http: markingReuse(new HttpAgent(options)), https: markingReuse(new HttpsAgent(options)) };
}

/** Whether the peer was probably closing the connection: the request reused it, and no byte came back. */
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
