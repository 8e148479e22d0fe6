import { type Subject } from './compartment-chart';
import { type SentResource, belongsTo, reasonsOf } from './compartment-oracle';
import { BASE_URL, type Received, type TestApp } from '../../testing/test-app';

/** The two roots of the server. */
const BASES = [`${BASE_URL}/fhir`, BASE_URL];

/** A resource as last sent, with the version in the server's response. */
export interface Kept {
  readonly resource: SentResource;
  readonly version: number;
  /** The time in the server's format, with milliseconds. */
  readonly lastUpdated: string;
}

interface EntryAnswer {
  readonly response: { readonly status: string; readonly etag: string; readonly lastModified: string };
}

/** Writes to a server and keeps the acknowledged resources, from which the oracle computes the expected answers. */
export class SentRecord {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly app: TestApp,
    private readonly subjects: readonly Subject[],
  ) {}

  get all(): readonly Kept[] {
    return [...this.kept.values()];
  }

  async put(resource: SentResource): Promise<void> {
    this.keep(resource, await this.app.put(`/fhir/${nameOf(resource)}`, resource));
  }

  /** Sends a JSON Patch that turns the stored resource into `resource`, member by member. */
  async patch(resource: SentResource): Promise<void> {
    const before = Object.keys(this.kept.get(nameOf(resource))?.resource ?? {});
    const operations = [
      ...before.filter((name) => !(name in resource)).map((name) => ({ op: 'remove', path: `/${name}` })),
      ...Object.entries(resource).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })),
    ];
    const headers = { 'Content-Type': 'application/json-patch+json' };
    const body = JSON.stringify(operations);
    this.keep(resource, await this.app.send('PATCH', `/fhir/${nameOf(resource)}`, { body, headers }));
  }

  async delete(name: string): Promise<void> {
    const { status, text } = await this.app.delete(`/fhir/${name}`);
    if (status !== 200) throw new Error(`${name} was not deleted: ${text}`);
    this.kept.delete(name);
  }

  /** Sends the resources as one Bundle. A transaction also contains the patients, under their urns. */
  async bundle(type: 'batch' | 'transaction', resources: readonly SentResource[]): Promise<void> {
    const patients = this.subjects.flatMap(({ id, urn }) => {
      const patient = this.kept.get(`Patient/${id}`)?.resource;
      return patient === undefined || resources.some((one) => nameOf(one) === `Patient/${id}`)
        ? []
        : [{ fullUrl: urn, resource: patient }];
    });
    const sent = [...(type === 'batch' ? [] : patients), ...resources.map((resource) => ({ resource }))];
    const entry = sent.map((one) => ({ ...one, request: { method: 'PUT', url: nameOf(one.resource) } }));
    const answer = await this.app.post('/fhir', { resourceType: 'Bundle', type, entry });
    if (answer.status !== 200) throw new Error(answer.text);
    for (const [index, { response }] of answer.json<{ entry: EntryAnswer[] }>().entry.entries()) {
      const resource = sent[index]?.resource;
      if (resource === undefined || !response.status.startsWith('20')) throw new Error(answer.text.slice(0, 2000));
      this.set(resource, Number(/\d+/.exec(response.etag)?.[0]), response.lastModified);
    }
  }

  /** The expected `$everything` of the patient, computed from the sent resources. */
  everythingOf(patientId: string): Kept[] {
    return this.all.filter(({ resource }) => belongsTo(resource, patientId, BASES));
  }

  /** The codes of the search parameters by which the answer contains the resource; `_id` for the patient itself. */
  reasonsOf(resource: SentResource, patientId: string): string[] {
    const itself = nameOf(resource) === `Patient/${patientId}` ? ['_id'] : [];
    return [...itself, ...reasonsOf(resource, patientId, BASES)].sort();
  }

  private keep(resource: SentResource, answer: Received): void {
    if (answer.status > 201) throw new Error(`${nameOf(resource)} was answered with ${answer.status}: ${answer.text}`);
    const { meta } = answer.json<{ meta: { versionId: string; lastUpdated: string } }>();
    this.set(resource, Number(meta.versionId), meta.lastUpdated);
  }

  private set(resource: SentResource, version: number, lastUpdated: string): void {
    this.kept.set(nameOf(resource), { resource: this.resolved(resource), version, lastUpdated });
  }

  /** The resource with the references of a transaction resolved, as the server must do it. */
  private resolved(resource: SentResource): SentResource {
    let text = JSON.stringify(resource);
    for (const { id, urn, identifier } of this.subjects) {
      const conditional = `Patient?identifier=${identifier.system}|${identifier.value}`;
      for (const from of [urn, conditional]) {
        text = text.replaceAll(`"reference":"${from}"`, `"reference":"Patient/${id}"`);
      }
    }
    return JSON.parse(text) as SentResource;
  }
}

export const nameOf = ({ resourceType, id }: { readonly resourceType: string; readonly id: string }): string =>
  `${resourceType}/${id}`;
