import { Injectable, Logger } from '@nestjs/common';
import { MOST_COUNTED } from '../delivery/destinations';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import {
  answerParameters,
  Operation,
  type OperationHandler,
  type OperationRequest,
  partsAnswer,
} from '../operation/operation';
import { Ambient } from '../platform/ambient';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { errorName } from '../platform/logging/error-trace';
import { Clock } from '../platform/time/clock';
import { MOST_SESSIONS_COUNTED } from '../session/session-tokens.repository';
import { MOST_DESTINATIONS, MOST_TABLES, STATUS_PARTS, StatusParts, type StatusValues } from './status-parts';

/** The time limit of each part of the answer. */
const TIME_LIMIT_SECONDS = 2;

@Injectable()
@Operation({
  code: 'server-status',
  level: 'system',
  methods: ['GET'],
  tag: 'Server',
  description: 'Health, requests, logins, queues, Sessions and storage of the server',
  details: `"server", "requests", "logins", "denials" and "connections" are sums of all processes of this start (SVC_PROCESSES) since "started"; other servers on the database have their own. The other parts are the same on every server. "requests" has a class each of login, auth, rpc, everything, operation, history, bundle, search, read, write and other: refused are answers with 4xx, failed with 5xx, and "within" counts requests that took at most so many seconds. Sessions are counted up to ${MOST_SESSIONS_COUNTED}, destinations up to ${MOST_DESTINATIONS}, the events that wait for each of them up to ${MOST_COUNTED}; where there are more, …IsMore is true. Storage has the ${MOST_TABLES} largest tables and is at most a minute old; rows and resources are estimates from the statistics of PostgreSQL. "missing" names parts that could not be read in time.`,
  answerParts: STATUS_PARTS,
  exampleAnswer: answerParameters(STATUS_PARTS, {
    timestamp: '2026-01-31T10:00:00.000Z',
    health: { databaseMilliseconds: 1, status: 'pass', description: 'The server answers.' },
    logins: { ok: 218, refused: 3, failed: 0, waiting: 0 },
    sessions: { active: 41 },
  }),
})
export class ServerStatusOperation implements OperationHandler {
  private readonly logger = new Logger(ServerStatusOperation.name);
  private running: Promise<StatusValues> | undefined;

  constructor(
    private readonly parts: StatusParts,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the state. Concurrent callers share one reading. It runs outside their requests, so that it does not end
   * when one of these requests ends.
   */
  async execute({ query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$server-status', query, SHAPE_PARAMETERS, headers.prefer);
    this.running ??= Ambient.outside(() => this.read()).finally(() => (this.running = undefined));
    return partsAnswer(STATUS_PARTS, await this.running);
  }

  /** Reads the parts one after the other, so that only one statement runs at a time. */
  private async read(): Promise<StatusValues> {
    const missing: string[] = [];
    const tried = async (name: string, read: () => Promise<StatusValues>): Promise<StatusValues> => {
      try {
        const limit = new TimeLimit(TIME_LIMIT_SECONDS, 'The status took too long to read');
        return await this.statements.within(limit, read);
      } catch (error) {
        this.logger.warn(`The part "${name}" of the status could not be read: ${errorName(error)}`);
        missing.push(name);
        return {};
      }
    };
    return {
      timestamp: this.clock.now(),
      // This part runs without the time limit of the others, which would open a read-only transaction. The health check
      // has its own limit, and must detect a read-only database.
      ...(await this.parts.ofHealth()),
      ...(await tried('server', () => this.parts.ofProcesses())),
      ...(await tried('sessions', () => this.parts.ofSessions())),
      ...(await tried('delivery', () => this.parts.ofDelivery())),
      ...(await tried('database', () => this.parts.ofDatabase())),
      ...(await tried('storage', () => this.parts.ofStorage())),
      missing,
    };
  }
}
