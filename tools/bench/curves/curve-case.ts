import { type Authorization, type HttpCall } from '../../http-client';

/** A call as the case makes it; the bench adds credentials. */
export interface CurveCall extends Pick<HttpCall, 'method' | 'path'> {
  readonly body?: object;
  /** A Client with its secret; the administrator when absent. */
  readonly user?: Authorization;
}

export type Sender = (call: CurveCall) => Promise<{ readonly json: unknown }>;

/** A kind of request whose cost grows with one size. */
export interface CurveCase {
  readonly name: string;
  /** n, 4n and 16n. */
  readonly sizes: readonly number[];
  /** Stores what all requests of a size need. */
  readonly setUp?: (size: number, send: Sender) => Promise<unknown>;
  /** What comes before each request and is not measured. */
  readonly before?: (size: number) => CurveCall;
  readonly request: (size: number) => CurveCall;
  /** What the request may take at most at a size, in milliseconds. */
  readonly promise?: { readonly size: number; readonly milliseconds: number };
}
