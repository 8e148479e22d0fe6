import { Agent, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { type BenchRequest, type Target } from './bench-case';

/** A complete response; status 0 when none arrived. */
export interface LoadAnswer {
  readonly status: number;
  readonly sizeBytes: number;
}

const NO_ANSWER: LoadAnswer = { status: 0, sizeBytes: 0 };

/** The number of concurrent requests. */
export const CONCURRENCY = 16;

/** Sends requests over kept connections; Node's `fetch` would cost more than the measured server. */
export class LoadClient {
  private readonly agent: Agent;
  private readonly isSecure: boolean;

  constructor(
    private readonly target: Target,
    maxSockets = CONCURRENCY,
  ) {
    this.isSecure = target.baseUrl.startsWith('https:');
    const options = { keepAlive: true, maxSockets };
    this.agent = this.isSecure ? new SecureAgent(options) : new Agent(options);
  }

  /** Resolves with the complete response, whatever its status. */
  send({ method, path, body }: BenchRequest): Promise<LoadAnswer> {
    const { baseUrl, authorization } = this.target;
    const headers = {
      Authorization: authorization,
      Accept: 'application/fhir+json',
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/fhir+json', 'Content-Length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve) => {
      const begin = this.isSecure ? secureRequest : request;
      begin(baseUrl + path, { method, headers, agent: this.agent }, (response) => {
        let sizeBytes = 0;
        response
          .on('data', (chunk: Buffer) => (sizeBytes += chunk.length))
          .on('end', () => {
            resolve({ status: response.statusCode ?? 0, sizeBytes });
          })
          .on('error', () => {
            resolve(NO_ANSWER);
          });
      })
        .on('error', () => {
          resolve(NO_ANSWER);
        })
        .end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
