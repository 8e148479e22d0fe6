import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

export interface Sent {
  /** Value of the Authorization header; `null` sends none. Default: Client root. */
  readonly authorization?: string | null;
  /** An object is sent as JSON; a string as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed text; fails the spec when it is no JSON. */
  json<T = Record<string, unknown>>(): T;
}

const UNPACK: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  gzip: gunzipSync,
};

/** Sends requests on connections that it keeps: fetch with a new one for each takes six times the CPU time. */
export class HttpClient {
  /** Idle connections end before the server would end them: a request never meets a closed one. */
  private readonly agent = new Agent({ keepAlive: true, timeout: 500 });

  async send(method: string, url: string, { authorization, body, headers }: Sent): Promise<Received> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const response = await this.begin(method, url, text, {
      Accept: '*/*',
      'Accept-Encoding': 'gzip, deflate',
      ...(typeof authorization === 'string' ? { Authorization: authorization } : {}),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
      ...headers,
    });
    return receivedOf(response, await buffer(response));
  }

  private begin(
    method: string,
    url: string,
    body: string | undefined,
    headers: OutgoingHttpHeaders,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request(url, { agent: this.agent, method, headers }).on('response', resolve).on('error', reject).end(body);
    });
  }

  /** Ends the connections that no request uses: a server that stops waits for them. */
  closeIdle(): void {
    for (const socket of Object.values(this.agent.freeSockets).flat()) socket?.destroy();
  }
}

function receivedOf({ statusCode = 0, headers, rawHeaders }: IncomingMessage, packed: Buffer): Received {
  const unpack = packed.length === 0 ? undefined : UNPACK[headers['content-encoding'] ?? ''];
  const text = (unpack?.(packed) ?? packed).toString();
  const received = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) received.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return { status: statusCode, headers: received, text, json: <T>() => JSON.parse(text) as T };
}
