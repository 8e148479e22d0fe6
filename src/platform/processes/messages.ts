import { type MetricFamily } from '../metrics/metric-family';
import { type MetricPath, type MetricScope } from '../metrics/metric-source';

/** A message to a worker. */
export type Order =
  | { readonly kind: 'stop' }
  /** Other processes take over: the worker hands its clients over, and ends. */
  | { readonly kind: 'retire' }
  /** The response to an `ask`. */
  | { readonly kind: 'told'; readonly id: number; readonly families: readonly MetricFamily[] }
  | { readonly kind: 'read'; readonly id: number; readonly path: MetricPath; readonly of: MetricScope };

/** A message from a worker. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  /** Requests the metrics of all processes. */
  | { readonly kind: 'ask'; readonly id: number; readonly path: MetricPath }
  | { readonly kind: 'metrics'; readonly id: number; readonly families: readonly MetricFamily[] };
