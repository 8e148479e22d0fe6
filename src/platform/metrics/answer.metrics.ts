import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Server, type ServerResponse } from 'node:http';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Environment } from '../config/environment';
import { family, type MetricFamily } from './metric-family';
import { MetricsFrom, type MetricSource } from './metric-source';

const CHANNEL = 'http.server.response.finish';
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

/** Answers by the class of their status: Node tells of each, so requests themselves pass nothing more. */
@Injectable()
@MetricsFrom({ source: 'answers', path: '/metrics' })
export class AnswerMetrics implements MetricSource, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly counts = STATUS_CLASSES.map(() => 0);
  private server: Server | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly environment: Environment,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.metricsPort === undefined) return;
    this.server = this.host.httpAdapter.getHttpServer() as Server;
    subscribe(CHANNEL, this.count);
  }

  onApplicationShutdown(): void {
    unsubscribe(CHANNEL, this.count);
  }

  read(): readonly MetricFamily[] {
    const help = 'Answers that were sent whole, by the class of their status.';
    const samples = STATUS_CLASSES.map((status, index) => ({ labels: { status }, value: this.counts[index] ?? 0 }));
    return [family('counter', 'svc_http_answers_total', help, samples)];
  }

  private readonly count = (message: unknown): void => {
    const { server, response } = message as { readonly server: Server; readonly response: ServerResponse };
    const index = Math.trunc(response.statusCode / 100) - 2;
    if (server === this.server && index in this.counts) this.counts[index] = (this.counts[index] ?? 0) + 1;
  };
}
