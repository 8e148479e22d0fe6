import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import axios from 'axios';
import { Clock, epochSeconds } from '../../platform/time/clock';
import { type Outgoing } from '../delivery-kind';
import { AddressPolicy } from './address-policy';
import { connectionFailureOf } from './connection-failure';
import { RequestBody } from './request-body';
import { webhookHeaders } from './webhook-headers';
import { type WebhookSettings } from './webhook-settings';

/** How much of a response, and for how long, is read so that its connection can be reused. */
const MAX_ANSWER_BYTES = 4096;
const ANSWER_MILLISECONDS = 1000;

export const isSuccess = (status = 0): boolean => status >= 200 && status <= 299;

/** The HTTP client of webhooks: no redirects, no proxy, no decompression, no cookies, and only short responses. */
@Injectable()
export class WebhookSender implements OnApplicationShutdown {
  /** HTTP agents by keep-alive time. An agent pools connections by host, so destinations can share it. */
  private readonly agents = new Map<number, { readonly http: HttpAgent; readonly https: HttpsAgent }>();

  constructor(
    private readonly addresses: AddressPolicy,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a notification once, and returns the head of the response without waiting for its body. If the receiver
   * closed a reused connection, the notification is sent again on another one (`isRepeated`).
   * @throws DeliveryFailure if there is no response
   */
  async exchange(
    outgoing: Outgoing,
    settings: WebhookSettings,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly retryAfterSeconds: number; readonly isRepeated: boolean }> {
    this.addresses.assertHostAllowed(new URL(settings.endpoint).hostname);
    const { http, https } = this.agentsOf(settings.keepAliveSeconds);
    for (let isRepeated = false; ; isRepeated = true) {
      const body = new RequestBody(outgoing, (notification) =>
        webhookHeaders(notification, settings, epochSeconds(this.clock.now()), outgoing.traceparent),
      );
      try {
        const { status, headers, data } = await axios.request<Readable>({
          method: 'POST',
          url: settings.endpoint,
          data: body.stream,
          transport: body.transport,
          signal,
          httpAgent: http,
          httpsAgent: https,
          maxRedirects: 0,
          proxy: false,
          decompress: false,
          responseType: 'stream',
          validateStatus: () => true,
        });
        releaseConnection(data);
        return { status, retryAfterSeconds: retryAfterSecondsOf(headers['retry-after'], headers.date), isRepeated };
      } catch (error) {
        // No failure of the endpoint: the peer may close an idle connection just when it is reused.
        if (!isRepeated && !signal.aborted && body.metClosingConnection(error)) continue;
        throw connectionFailureOf(error);
      } finally {
        body.end();
      }
    }
  }

  onApplicationShutdown(): void {
    for (const { http, https } of this.agents.values()) {
      http.destroy();
      https.destroy();
    }
  }

  private agentsOf(keepAliveSeconds: number): { readonly http: HttpAgent; readonly https: HttpsAgent } {
    // The agent closes a connection after this idle time, or earlier if the Keep-Alive header of the peer says so.
    const reuse = keepAliveSeconds === 0 ? { keepAlive: false } : { keepAlive: true, timeout: keepAliveSeconds * 1000 };
    const options = { ...reuse, lookup: this.addresses.lookup };
    const known = this.agents.get(keepAliveSeconds);
    const agents = known ?? { http: new HttpAgent(options), https: new HttpsAgent(options) };
    this.agents.set(keepAliveSeconds, agents);
    return agents;
  }
}

/**
 * Reads the rest of a short response, so that its connection can be reused. Closes the connection of a response that is
 * longer or takes too long.
 */
function releaseConnection(answer: Readable): void {
  let sizeBytes = 0;
  const timer = setTimeout(() => answer.destroy(), ANSWER_MILLISECONDS);
  answer.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) answer.destroy();
  });
  answer.on('error', () => undefined);
  answer.on('close', () => {
    clearTimeout(timer);
  });
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds or a date. A date is compared with the date of the response,
 * since the clocks of the two machines may differ.
 */
function retryAfterSecondsOf(value: unknown, date: unknown): number {
  if (typeof value !== 'string') return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(String(date))) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds);
}
