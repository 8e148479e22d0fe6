import { inParallel } from '../../demo/in-parallel';
import { HttpClient } from '../../http-client';
import { jsonBody } from '../../json-body';
import { runQuery } from '../own-database';
import { type OwnContender } from '../test-bed';
import { type CaptureScene, type CaptureTopic, TOPICS } from './capture-scenes';

const PROFILE = 'http://bench.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
/** The timeout of the destinations, longer than the bench runs: the first attempt of each lasts until the end. */
const TIMEOUT_SECONDS = 86_400;

const COUNT_EVENTS = `select (select count(*) from outbox_event)
  + (select coalesce(sum(cardinality(event_ids)), 0) from open_batch) as events`;

/** Topics on the written type, each with a destination whose receiver never responds. */
export class CaptureBed {
  private readonly client: HttpClient;
  private active: ReadonlySet<string> = new Set();

  private constructor(
    private readonly server: OwnContender,
    private readonly resourceType: string,
  ) {
    this.client = new HttpClient(server.baseUrl);
  }

  /** The writing User owns the destinations; no topic is active yet. */
  static async setUp(server: OwnContender, resourceType: string, endpoint: string): Promise<CaptureBed> {
    const bed = new CaptureBed(server, resourceType);
    await inParallel(TOPICS, 4, async (topic) => {
      await bed.putTopic(topic, 'draft');
      await bed.send('PUT', `/SvcTopicDestination/${topic.id}`, {
        meta: { profile: [PROFILE] },
        kind: 'webhook-at-least-once',
        topic: urlOf(topic.id),
        parameter: [
          { name: 'endpoint', valueUrl: endpoint },
          { name: 'timeout', valueUnsignedInt: TIMEOUT_SECONDS },
        ],
      });
    });
    return bed;
  }

  /** Ends the waiting attempts, and drops the captured events. */
  async tearDown(): Promise<void> {
    for (const { id } of TOPICS) await this.send('DELETE', `/SvcTopicDestination/${id}`);
  }

  async activate({ topicIds }: CaptureScene): Promise<void> {
    const wanted = new Set(topicIds);
    for (const topic of TOPICS) {
      if (wanted.has(topic.id) === this.active.has(topic.id)) continue;
      await this.putTopic(topic, wanted.has(topic.id) ? 'active' : 'draft');
    }
    this.active = wanted;
  }

  /** The number of captured events. All are still stored, since no receiver responds. */
  async countEvents(): Promise<number> {
    const [counted] = await runQuery<{ events: string }>(this.server.databaseUrl, COUNT_EVENTS);
    return Number(counted?.events);
  }

  private putTopic({ id, fhirPathCriteria }: CaptureTopic, status: 'draft' | 'active'): Promise<void> {
    const trigger = { resource: this.resourceType, ...(fhirPathCriteria === undefined ? {} : { fhirPathCriteria }) };
    return this.send('PUT', `/SvcSubscriptionTopic/${id}`, { url: urlOf(id), status, trigger: [trigger] });
  }

  private async send(method: 'PUT' | 'DELETE', path: string, body?: object): Promise<void> {
    const authorization = { bearer: this.server.authorization.replace(/^Bearer /, '') };
    const call = { method, path, authorization, ...(body === undefined ? {} : { body: jsonBody(body) }) };
    const { status, text } = await this.client.send(call);
    if (status > 299) throw new Error(`${method} ${path} was answered with ${status}: ${text.slice(0, 500)}`);
  }
}

const urlOf = (id: string): string => `http://bench.example/topics/${id}`;
