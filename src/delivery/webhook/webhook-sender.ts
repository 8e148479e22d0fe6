import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import axios from 'axios';
import { Clock } from '../../platform/time/clock';
import { type Outgoing } from '../delivery-kind';
import { AddressPolicy } from './address-policy';
import { connectionFailureOf } from './connection-failure';
import { RequestBody } from './request-body';
import { webhookHeaders } from './webhook-headers';
import { type WebhookSettings } from './webhook-settings';

/** The most bytes of a response that are read to reuse its connection; a longer response closes it. */
const MAX_ANSWER_BYTES = 4096;
const ANSWER_MILLISECONDS = 1000;

export const isSuccess = (status = 0): boolean => status >= 200 && status <= 299;

/** The HTTP client of webhooks: no redirects, no proxy, no decompression, no cookies, bounded responses. */
@Injectable()
export class WebhookSender implements OnApplicationShutdown {
  /** One agent pools connections by host, so destinations with the same keep-alive time share it. */
  private readonly agents = new Map<number, { readonly http: HttpAgent; readonly https: HttpsAgent }>();

  constructor(
    private readonly addresses: AddressPolicy,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends once and returns the head of the response, independent of its body. @throws DeliveryFailure without a
   * response
   */
  async exchange(
    outgoing: Outgoing,
    settings: WebhookSettings,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly retryAfterSeconds: number }> {
    this.addresses.assertHostAllowed(new URL(settings.endpoint).hostname);
    const { http, https } = this.agentsOf(settings.keepAliveSeconds);
    for (let isRetry = false; ; isRetry = true) {
      const body = new RequestBody(outgoing, (notification) =>
        webhookHeaders(notification, settings, {
          timestampSeconds: Math.floor(this.clock.now().getTime() / 1000),
          traceparent: outgoing.traceparent,
        }),
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
        return { status, retryAfterSeconds: retryAfterSecondsOf(headers['retry-after'], headers.date) };
      } catch (error) {
        // A peer may close an idle connection just as it is reused: that is no failure of the endpoint.
        if (!isRetry && !signal.aborted && body.metClosingConnection(error)) continue;
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

  /** Connections stay open while idle for `keepAliveSeconds`; 0 opens one per request. */
  private agentsOf(keepAliveSeconds: number): { readonly http: HttpAgent; readonly https: HttpsAgent } {
    const keepAlive = keepAliveSeconds > 0;
    // The agent closes a connection that idles longer, or earlier if the peer's Keep-Alive header says so.
    const options = {
      keepAlive,
      lookup: this.addresses.lookup,
      ...(keepAlive ? { timeout: keepAliveSeconds * 1000 } : {}),
    };
    const agents = this.agents.get(keepAliveSeconds) ?? {
      http: new HttpAgent(options),
      https: new HttpsAgent(options),
    };
    this.agents.set(keepAliveSeconds, agents);
    return agents;
  }
}

/** Reads the rest of a short response in the background, to reuse the connection; closes a longer one. */
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
 * RFC 9110, section 10.2.3: seconds or a date. A date is compared with the response's own date, since clocks differ.
 */
function retryAfterSecondsOf(value: unknown, date: unknown): number {
  if (typeof value !== 'string') return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(String(date))) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds);
}
