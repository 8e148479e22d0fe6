import { type Caller } from '../../platform/request/caller';

/** The parts of a request that policies can read (ADR 0021). */
export const REQUEST_PARTS = [
  'request-method',
  'scheme',
  'uri',
  'query-string',
  'params',
  'resource',
  'body',
  'headers',
  'remote-addr',
  'user',
  'client',
  'session',
  'jwt',
  'operation',
] as const;

export type RequestPart = (typeof REQUEST_PARTS)[number];

/** The parts read so far; a part that the request lacks is undefined. */
export type RequestObject = Readonly<Partial<Record<RequestPart, unknown>>>;

/** One call of an RPC method. */
export interface RpcCallRequest {
  readonly method: string;
  readonly params: unknown;
}

/** A request as policies see it. */
export interface AccessRequest {
  readonly caller: Caller;
  /** The name of the route, for links to an Operation; for example `FhirRead`. */
  readonly operationId: string | undefined;
  /** Present for calls of RPC methods. */
  readonly rpc?: RpcCallRequest;
  /** Reads parts of the request, each at most once and only on demand. */
  read(parts: Iterable<RequestPart>): Promise<RequestObject>;
}

export const isRequestPart = (name: string): name is RequestPart => (REQUEST_PARTS as readonly string[]).includes(name);
