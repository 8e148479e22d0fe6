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

/** The parts that were read, by name. A part that the request does not have is undefined. */
export type RequestObject = Readonly<Partial<Record<RequestPart, unknown>>>;

/** One call of an RPC method. */
export interface RpcCallRequest {
  readonly method: string;
  readonly params: unknown;
}

/** A request as policies see it. */
export interface AccessRequest {
  readonly caller: Caller;
  /** The name of the route, to which a policy links as an Operation; for example `FhirRead`. */
  readonly operationId: string | undefined;
  /** The call, if the request is a call of an RPC method. */
  readonly rpc?: RpcCallRequest;
  /** Returns these parts of the request. Each part is computed on demand and at most once. */
  read(parts: Iterable<RequestPart>): Promise<RequestObject>;
}

export const isRequestPart = (name: string): name is RequestPart => (REQUEST_PARTS as readonly string[]).includes(name);
