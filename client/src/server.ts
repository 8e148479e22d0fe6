import type { Connection } from './connection.js';
import { valuesOf } from './parameters.js';
import type { Schemas } from './types.js';

/** Counts of the requests of one class since the start of the server. */
export interface RequestCounts {
  /** The class: login, auth, rpc, everything, operation, history, bundle, search, read, write or other. */
  readonly class: string;
  readonly count: number;
  /** Number of requests that were answered with 4xx. */
  readonly refused: number;
  /** Number of requests that were answered with 5xx. */
  readonly failed: number;
  /** Number of requests whose answer was cut off. */
  readonly cut: number;
  readonly p50Seconds?: number;
  readonly p95Seconds?: number;
  readonly p99Seconds?: number;
  /** Numbers of requests that took at most this many seconds. */
  readonly within: readonly { readonly atMostSeconds: number; readonly count: number }[];
}

/**
 * The state of the server. Counters begin at `server.started`, and are sums over all processes of one start. A member
 * is absent if `missing` names it.
 */
export interface ServerStatus {
  readonly timestamp: string;
  readonly health: {
    readonly status: 'pass' | 'warn' | 'fail';
    readonly description: string;
    readonly databaseMilliseconds: number;
  };
  readonly server?: {
    readonly version: string;
    readonly processes: number;
    readonly started: string;
    readonly memoryBytes: number;
    readonly cpuSeconds: number;
    /** 99 of 100 delays of the event loop are shorter than this. */
    readonly eventLoopDelaySeconds: number;
    readonly backgroundFailures: number;
  };
  readonly requests: readonly RequestCounts[];
  readonly logins?: {
    readonly ok: number;
    readonly refused: number;
    readonly failed: number;
    readonly waiting: number;
  };
  readonly denials?: { readonly policy: number; readonly rows: number };
  readonly connections?: { readonly size: number; readonly inUse: number; readonly waiting: number };
  readonly sessions?: { readonly active: number; readonly activeIsMore?: boolean };
  readonly delivery?: {
    readonly destinations: number;
    readonly destinationsIsMore?: boolean;
    readonly failing: number;
    readonly isHeld?: boolean;
    readonly queued: number;
    readonly queuedIsMore?: boolean;
    readonly inProcess: number;
    readonly oldestAgeSeconds?: number;
  };
  readonly database?: {
    readonly version: string;
    readonly connections: number;
    readonly maxConnections: number;
    readonly standbys: number;
    readonly standbyLagBytes?: number;
    readonly slotLagBytes?: number;
  };
  readonly storage?: {
    readonly timestamp: string;
    readonly bytes: number;
    /** The largest tables. */
    readonly table?: readonly {
      readonly name: string;
      readonly bytes: number;
      readonly rows?: number;
      readonly deadRows?: number;
    }[];
    /** Estimated number of resources by type. */
    readonly resources?: readonly { readonly type: string; readonly count: number }[];
  };
  readonly missing: readonly string[];
}

type Answered = Omit<ServerStatus, 'requests' | 'missing'> & Partial<Pick<ServerStatus, 'requests' | 'missing'>>;

/** The state of the server, for its operators. */
export class Server {
  constructor(private readonly connection: Connection) {}

  /**
   * Returns health, requests, logins, queues, Sessions and storage. The caller needs a policy for the Operation
   * `FhirServerStatus`.
   */
  async status(): Promise<ServerStatus> {
    const { parameter } = await this.connection.json<Schemas['ServerStatusAnswer']>('GET', '/fhir/$server-status');
    const lists = ['requests', 'within', 'table', 'resources', 'missing'];
    return { requests: [], missing: [], ...valuesOf<Answered>(parameter, lists) };
  }
}
