import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ChildServer } from '../bench/child-server';
import { type Cleanup } from '../bench/cleanup';
import { HttpClient } from '../http-client';
import { jsonBody } from '../json-body';
import { type Variables } from './machine';

/** A server during a how-to; the Client `root` calls it. */
export class Served {
  private constructor(
    readonly process: ChildServer,
    private readonly rootSecret: string,
  ) {}

  static async start(cleanup: Cleanup, rootSecret: string, settings: Variables): Promise<Served> {
    const started = ChildServer.start(resolve('dist', 'src', 'main.js'), settings);
    return new Served(await cleanup.undoing(started, (server) => server.stop()), rootSecret);
  }

  get url(): string {
    return this.process.url;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  /** The status of a request for `Patient/{id}`. */
  async send(method: 'DELETE' | 'GET' | 'PUT', id: string): Promise<number> {
    const authorization = { user: 'root', password: this.rootSecret };
    const body = method === 'PUT' ? { body: jsonBody({ resourceType: 'Patient', id }) } : {};
    return (await new HttpClient(this.url).send({ method, path: `/fhir/Patient/${id}`, authorization, ...body }))
      .status;
  }

  /** Creates a login, and a webhook whose endpoint refuses connections, so that its events wait. */
  async keepWaiting(): Promise<void> {
    const topic = 'http://topics.example/runbook';
    const profile = ['http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once'];
    const parameter = [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' }];
    await this.put('SvcSubscriptionTopic/waits', { url: topic, status: 'active', trigger: [{ resource: 'Patient' }] });
    const kind = 'webhook-at-least-once';
    await this.put('SvcTopicDestination/waits', { meta: { profile }, kind, topic, parameter });
    await this.expect('PUT', 'waits', 201);
    await this.call('POST', '/auth/token', { grant_type: 'client_credentials' });
  }

  private async put(path: string, body: object): Promise<void> {
    const { status, text } = await this.call('PUT', `/fhir/${path}`, body);
    if (status !== 201) throw new Error(`PUT of ${path} was answered ${status}: ${text}`);
  }

  private call(method: 'POST' | 'PUT', path: string, body: object): ReturnType<HttpClient['send']> {
    const authorization = { user: 'root', password: this.rootSecret };
    return new HttpClient(this.url).send({ method, path, authorization, body: jsonBody(body) });
  }

  async expect(method: 'DELETE' | 'GET' | 'PUT', id: string, status: number): Promise<void> {
    const found = await this.send(method, id);
    if (found !== status) throw new Error(`${method} of Patient/${id} was answered ${found}, not ${status}`);
  }

  /** Writes until the server has reconnected to the database. */
  async eventuallyWrites(id: string): Promise<void> {
    for (let tries = 0; (await this.send('PUT', id)) > 299; tries++) {
      if (tries === 60) throw new Error('The server does not find the database again.');
      await delay(500);
    }
  }
}
