import { ConsoleLogger, Injectable } from '@nestjs/common';
import { type LogLevel } from '../config/environment';
import { type RequestContext } from '../request/request-context';

const LEVELS = ['error', 'warn', 'log', 'debug', 'verbose'] as const satisfies readonly LogLevel[];

/** Writes the line of each request, at a third of the cost of {@link ContextLogger}. */
export function writeAccessLine(message: object, ids: object): void {
  const line = { level: 'log', pid: process.pid, timestamp: Date.now(), message, context: 'Access', ...ids };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * The contexts of about a hundred lines that NestJS logs at its start. They are dropped, since only developers of
 * NestJS need them.
 */
const BOOT_CONTEXTS = new Set<unknown>([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/**
 * Writes JSON lines to standard output, with the ids of the current request. Messages are short facts. Tokens,
 * passwords and clinical content are never logged.
 */
@Injectable()
export class ContextLogger extends ConsoleLogger {
  constructor(
    leastLevel: LogLevel,
    private readonly requests: RequestContext,
  ) {
    super({ json: true, colors: false, logLevels: ['fatal', ...LEVELS.slice(0, LEVELS.indexOf(leastLevel) + 1)] });
  }

  override log(...parameters: [message: unknown, ...rest: unknown[]]): void {
    if (BOOT_CONTEXTS.has(parameters.at(-1))) this.debug(...parameters);
    else super.log(...parameters);
  }

  protected override getJsonLogObject(
    ...parameters: Parameters<ConsoleLogger['getJsonLogObject']>
  ): ReturnType<ConsoleLogger['getJsonLogObject']> & { requestId?: string; correlationId?: string; traceId?: string } {
    const { requestId, correlationId, span } = this.requests;
    return {
      ...super.getJsonLogObject(...parameters),
      ...(requestId === undefined ? {} : { requestId }),
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(span === undefined ? {} : { traceId: span.spanContext().traceId }),
    };
  }
}
