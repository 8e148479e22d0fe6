import { type Caller } from '../../platform/request/caller';

/** The parts of a request that policies can look at (ADR 0021). */
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

/** What was read of a request; a part that the request does not have is undefined. */
export type RequestObject = Readonly<Partial<Record<RequestPart, unknown>>>;

/** One call of an RPC method. */
export interface RpcCallRequest {
  readonly method: string;
  readonly params: unknown;
}

/** What is asked for, as policies see it. */
export interface AccessRequest {
  readonly caller: Caller;
  /** The name of the route, for links to an Operation; for example `FhirRead`. */
  readonly operationId: string | undefined;
  /** Present for calls of RPC methods. */
  readonly rpc?: RpcCallRequest;
  /** Reads parts of the request, each once and only when somebody asks for it. */
  read(parts: Iterable<RequestPart>): Promise<RequestObject>;
}

export const isRequestPart = (name: string): name is RequestPart => (REQUEST_PARTS as readonly string[]).includes(name);
