import { Injectable, Logger } from '@nestjs/common';
import { MOST_COUNTED } from '../delivery/destinations';
import { type FhirAnswer, parametersAnswer } from '../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { errorName } from '../platform/logging/error-trace';
import { RequestContext } from '../platform/request/request-context';
import { Clock } from '../platform/time/clock';
import { MOST_SESSIONS_COUNTED } from '../session/session-tokens.repository';
import { type Part } from './parameter-parts';
import { MOST_DESTINATIONS, MOST_TABLES, StatusParts } from './status-parts';

/** The time limit of each part of the answer. */
const TIME_LIMIT_SECONDS = 2;

/** Returns the state of the server, for people who operate it. */
@Injectable()
@Operation({
  code: 'server-status',
  level: 'system',
  methods: ['GET'],
  tag: 'Server',
  description: 'Health, requests, logins, queues, Sessions and storage of the server',
  details: `"server", "requests", "logins", "denials" and "connections" are sums of all processes of this start (SVC_PROCESSES) since "started"; other servers on the database have their own. The other parts are the same on every server. "requests" has a class each of login, auth, rpc, everything, operation, history, bundle, search, read, write and other: refused are answers with 4xx, failed with 5xx, and "within" counts requests that took at most so many seconds. Sessions are counted up to ${MOST_SESSIONS_COUNTED}, destinations up to ${MOST_DESTINATIONS}, the events that wait for each of them up to ${MOST_COUNTED}; where there are more, …IsMore is true. Storage has the ${MOST_TABLES} largest tables and is at most a minute old; rows and resources are estimates from the statistics of PostgreSQL. "missing" names parts that could not be read in time.`,
  answerParts: {
    timestamp: 'instant',
    health: { databaseMilliseconds: 'decimal', status: 'code', description: 'string' },
    server: {
      version: 'string',
      processes: 'decimal',
      memoryBytes: 'decimal',
      cpuSeconds: 'decimal',
      eventLoopDelaySeconds: 'decimal',
      backgroundFailures: 'decimal',
      started: 'instant',
    },
    requests: {
      count: 'decimal',
      refused: 'decimal',
      failed: 'decimal',
      cut: 'decimal',
      p50Seconds: 'decimal',
      p95Seconds: 'decimal',
      p99Seconds: 'decimal',
      class: 'code',
      within: { atMostSeconds: 'decimal', count: 'decimal' },
    },
    logins: { ok: 'decimal', refused: 'decimal', failed: 'decimal', waiting: 'decimal' },
    denials: { policy: 'decimal', rows: 'decimal' },
    connections: { size: 'decimal', inUse: 'decimal', waiting: 'decimal' },
    sessions: { active: 'decimal', activeIsMore: 'boolean' },
    delivery: {
      destinations: 'decimal',
      destinationsIsMore: 'boolean',
      failing: 'decimal',
      isHeld: 'boolean',
      queued: 'decimal',
      queuedIsMore: 'boolean',
      inProcess: 'decimal',
      oldestAgeSeconds: 'decimal',
    },
    database: {
      version: 'string',
      maxConnections: 'decimal',
      connections: 'decimal',
      standbys: 'decimal',
      standbyLagBytes: 'decimal',
      slotLagBytes: 'decimal',
    },
    storage: {
      bytes: 'decimal',
      timestamp: 'instant',
      table: { name: 'string', bytes: 'decimal', rows: 'decimal', deadRows: 'decimal' },
      resources: { count: 'decimal', type: 'code' },
    },
    missing: 'code',
  },
  exampleAnswer: {
    resourceType: 'Parameters',
    parameter: [
      { name: 'timestamp', valueInstant: '2026-01-31T10:00:00.000Z' },
      {
        name: 'health',
        part: [
          { name: 'databaseMilliseconds', valueDecimal: 1 },
          { name: 'status', valueCode: 'pass' },
          { name: 'description', valueString: 'The server answers.' },
        ],
      },
      {
        name: 'logins',
        part: [
          { name: 'ok', valueDecimal: 218 },
          { name: 'refused', valueDecimal: 3 },
          { name: 'failed', valueDecimal: 0 },
          { name: 'waiting', valueDecimal: 0 },
        ],
      },
      { name: 'sessions', part: [{ name: 'active', valueDecimal: 41 }] },
    ],
  },
})
export class ServerStatusOperation implements OperationHandler {
  private readonly logger = new Logger(ServerStatusOperation.name);
  private running: Promise<readonly Part[]> | undefined;

  constructor(
    private readonly parts: StatusParts,
    private readonly statements: Statements,
    private readonly requests: RequestContext,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the state. Concurrent callers share one reading. It runs outside their requests, so that it does not end
   * when one of these requests ends.
   */
  async execute({ query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$server-status', query, SHAPE_PARAMETERS, headers.prefer);
    this.running ??= this.requests.outside(() => this.read()).finally(() => (this.running = undefined));
    return parametersAnswer(await this.running);
  }

  /** Reads the parts one after the other, so that only one statement runs at a time. */
  private async read(): Promise<readonly Part[]> {
    return [
      { name: 'timestamp', valueInstant: this.clock.now().toISOString() },
      // This part runs without the time limit of the others, which would open a read-only transaction. The health check
      // has a limit of its own, and must detect a read-only database.
      ...(await this.parts.ofHealth()),
      ...(await this.tried('server', () => this.parts.ofProcesses())),
      ...(await this.tried('sessions', () => this.parts.ofSessions())),
      ...(await this.tried('delivery', () => this.parts.ofDelivery())),
      ...(await this.tried('database', () => this.parts.ofDatabase())),
      ...(await this.tried('storage', () => this.parts.ofStorage())),
    ];
  }

  private async tried(name: string, read: () => Promise<readonly Part[]>): Promise<readonly Part[]> {
    try {
      const limit = new TimeLimit(TIME_LIMIT_SECONDS, 'The status took too long to read');
      return await this.statements.within(limit, read);
    } catch (error) {
      this.logger.warn(`The part "${name}" of the status could not be read: ${errorName(error)}`);
      return [{ name: 'missing', valueCode: name }];
    }
  }
}
