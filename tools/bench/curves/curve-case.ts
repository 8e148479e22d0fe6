import { type Authorization, type HttpCall } from '../../http-client';

/** A call of the case; the bench adds credentials. */
export interface CurveCall extends Pick<HttpCall, 'method' | 'path'> {
  readonly body?: object;
  /** The caller: a Client with its secret; by default the administrator. */
  readonly user?: Authorization;
}

export type Sender = (call: CurveCall) => Promise<{ readonly json: unknown }>;

/** A kind of request whose cost grows with one size. */
export interface CurveCase {
  readonly name: string;
  /** Three sizes: n, 4n and 16n. */
  readonly sizes: readonly number[];
  /** Stores the data for all requests of a size. */
  readonly setUp?: (size: number, send: Sender) => Promise<unknown>;
  /** A call before each request that is not measured. */
  readonly before?: (size: number) => CurveCall;
  readonly request: (size: number) => CurveCall;
  /** The maximum duration of the request at a size, in milliseconds. */
  readonly promise?: { readonly size: number; readonly milliseconds: number };
}
