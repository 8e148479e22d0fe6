import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../../../tools/chart/random';
import { type Bundle, bundleOf, followPages } from '../../support/bundle';
import { isAboutCareWithin } from '../../support/care-date-oracle';
import { CompartmentChart, type Drawn, type Subject, WRITABLE_LINKS } from '../../support/compartment-chart';
import { COMPARTMENT_LINKS, type CompartmentLink, type SentResource } from '../../support/compartment-oracle';
import { type Kept, nameOf, SentRecord } from '../../support/sent-record';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/**
 * The seeds of the random charts. Each run uses another seed. `EVERYTHING_SEEDS=1,2,3` uses these seeds, and requests
 * each answer in every form.
 */
const { EVERYTHING_SEEDS: given } = process.env;
const SEEDS = (given ?? String(Date.now() % 1_000_000)).split(',').map(Number);
const QUESTIONS = given === undefined ? 3 : 15;

const UNIT_SIZE = 25;

// Ids with a common prefix, or that differ only in case, belong to different patients.
const SUBJECTS: readonly Subject[] = ['kim', 'kim1', 'Kim', 'lee'].map((id, index) => ({
  id,
  identifier: { system: 'http://mrn.example', value: `mrn-${id}` },
  urn: `urn:uuid:0${index}000000-0000-4000-8000-000000000000`,
}));

interface Found extends SentResource {
  readonly meta: { readonly versionId: string; readonly lastUpdated: string };
}

interface FoundEntry {
  readonly resource: Found;
  /** The parameters by which the resource belongs to the patient. */
  readonly search: { readonly extension: readonly { readonly valueCode: string }[] };
}

interface Parameter {
  readonly name: string;
  readonly valueBoolean?: boolean;
  readonly valueInteger?: number;
  readonly valueCode?: string;
  readonly part?: readonly Parameter[];
}

/** The numbers of a manifest: for each type in the answer, and for all omitted resources. */
function manifestOf({ parameter }: { readonly parameter: readonly Parameter[] }): object {
  const complete = parameter.find(({ name }) => name === 'complete')?.valueBoolean;
  const parts = parameter.filter(({ name }) => name === 'type').map(({ part = [] }) => part);
  const countOf = (part: readonly Parameter[]): number => part.find(({ name }) => name === 'count')?.valueInteger ?? 0;
  const counts = parts.map((part): [string, number] => [
    part.find(({ name }) => name === 'code')?.valueCode ?? '',
    countOf(part),
  ]);
  const leftOut = parts.flatMap((part) =>
    part.filter(({ name }) => name === 'left-out').map(({ part: out = [] }) => countOf(out)),
  );
  return {
    complete,
    countByType: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    leftOut: leftOut.reduce((sum, count) => sum + count, 0),
  };
}

function countByType(entries: readonly FoundEntry[]): object {
  const counts: Record<string, number> = {};
  for (const { resource } of entries) counts[resource.resourceType] = (counts[resource.resourceType] ?? 0) + 1;
  return counts;
}

/** The compared parts: name, version and all content. */
const foundAs = ({ meta, ...resource }: Found): object => ({ ...resource, version: Number(meta.versionId) });
const keptAs = ({ resource, version }: Kept): object => ({ ...resource, version });
const byName = <T extends SentResource>(resources: readonly T[]): T[] =>
  [...resources].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

describe.each(SEEDS)('Patient/$everything of patients drawn with EVERYTHING_SEEDS=%i', (seed) => {
  const random = new Random(seed);
  const chart = new CompartmentChart(random);
  const linksOf = new Map<string, readonly CompartmentLink[]>();
  let app: TestApp;
  let record: SentRecord;

  beforeAll(async () => {
    app = await startTestApp();
    record = new SentRecord(app, SUBJECTS);
    for (const { id, identifier } of SUBJECTS) {
      await record.put({ resourceType: 'Patient', id, identifier: [identifier] });
    }
  }, 60_000);
  afterAll(() => app.close());

  const everything = async (patientId: string, query = ''): Promise<FoundEntry[]> => {
    const { entry, total } = await bundle(`/fhir/Patient/${patientId}/$everything?${query}`);
    expect(total).toBe(entry.length);
    return [...entry];
  };
  const bundle = async (path: string): Promise<Bundle<FoundEntry>> => {
    const answer = await app.get(path);
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return bundleOf<FoundEntry>(answer);
  };

  /** Compares the answer for each patient with the sent resources: nothing missing, nothing extra, no duplicates. */
  const agree = async (query = '', holds: (kept: Kept) => boolean = () => true): Promise<void> => {
    const inOtherForms = random.pick(SUBJECTS).id;
    for (const { id } of SUBJECTS) {
      const expected = record.everythingOf(id).filter(holds);
      const entries = await everything(id, query);
      const found = entries.map(({ resource }) => resource);
      expect(byName(found).map(nameOf)).toEqual(byName(expected.map(({ resource }) => resource)).map(nameOf));
      const versions = new Map(expected.map((kept) => [nameOf(kept.resource), keptAs(kept)]));
      for (const { resource, search } of entries) {
        const name = nameOf(resource);
        expect(foundAs(resource)).toEqual(versions.get(name));
        const codes = search.extension.map(({ valueCode }) => valueCode);
        expect([name, codes]).toEqual([name, record.reasonsOf(resource, id)]);
      }
      if (given !== undefined || id === inOtherForms) await agreeInOtherForms(id, query, entries);
    }
  };

  /** Compares the same answer as lines, as pages, and as numbers. */
  const agreeInOtherForms = async (id: string, query: string, entries: readonly FoundEntry[]): Promise<void> => {
    const path = `/fhir/Patient/${id}/$everything?${query}`;
    const { text } = await app.get(path, { headers: { Accept: 'application/fhir+ndjson' } });
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(entries.map(({ resource }) => resource));
    const pages = await followPages<FoundEntry>(app, `${path}&_count=${random.integer(11, 60)}`);
    expect(pages.flatMap(({ entry }) => entry)).toEqual(entries);
    expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([entries.length]));
    const manifest = manifestOf((await app.get(`${path}&_manifest=1`)).json());
    const leftOut = record.everythingOf(id).length - entries.length;
    expect(manifest).toEqual({ complete: leftOut === 0, countByType: countByType(entries), leftOut });
  };

  const draw = (id: string, links: readonly CompartmentLink[], isMember: boolean): Drawn => {
    const drawn = isMember
      ? chart.member(id, links, random.pick(SUBJECTS))
      : chart.miss(id, links, random.pick(SUBJECTS));
    linksOf.set(nameOf(drawn.resource), links);
    return drawn;
  };

  /** Sends the resources alone, in batches and in transactions, at random. */
  const send = async (drawn: readonly Drawn[]): Promise<void> => {
    const units = { put: [], batch: [], transaction: [] } as Record<'put' | 'batch' | 'transaction', SentResource[]>;
    for (const { resource, isForTransaction } of drawn) {
      units[isForTransaction ? 'transaction' : random.pick(['put', 'batch', 'transaction'] as const)].push(resource);
    }
    for (const resource of units.put) await record.put(resource);
    for (const type of ['batch', 'transaction'] as const) {
      for (let at = 0; at < units[type].length; at += UNIT_SIZE) {
        await record.bundle(type, units[type].slice(at, at + UNIT_SIZE));
      }
    }
  };

  it('returns every resource that refers to the patient by any parameter, in any form of reference', async () => {
    const types = new Set(WRITABLE_LINKS.map(({ type }) => type));
    // 66 types of R4 and two of the server. AuditEvent is excluded, since only the server writes it.
    expect([types.size, new Set(COMPARTMENT_LINKS.map(({ type }) => type)).size]).toEqual([67, 68]);
    const drawn = WRITABLE_LINKS.flatMap((link, index) => [
      draw(`one-${index}`, [link], true),
      draw(`near-${index}`, [link], false),
    ]);
    const several = [...types].map((type) =>
      draw(
        'several',
        WRITABLE_LINKS.filter((link) => link.type === type),
        true,
      ),
    );
    await send([...drawn, ...several]);
    // With such long texts, one statement cannot read the charts of two patients: the server reads them type by type.
    const flags = WRITABLE_LINKS.filter(({ type }) => type === 'Flag');
    for (const [index, subject] of SUBJECTS.slice(0, 2).entries()) {
      await record.put({ ...chart.relative(`long-${index}`, flags, subject), code: { text: 'x'.repeat(70_000) } });
    }
    await agree();
  }, 60_000);

  it('follows changes, moves to another patient, deletions and restored resources', async () => {
    const others = record.all.filter(({ resource }) => linksOf.has(nameOf(resource)));
    const changed: Drawn[] = [];
    for (const { resource } of others) {
      const name = nameOf(resource);
      const links = linksOf.get(name) ?? [];
      const choice = random.integer(1, 10);
      if (choice >= 9) await record.delete(name);
      if (choice === 10 || choice <= 4) changed.push(draw(resource.id, links, random.chance(0.6)));
      else if (choice === 5) await record.patch(chart.relative(resource.id, links, random.pick(SUBJECTS)));
      else if (choice === 6) await record.put({ ...resource, language: 'en' });
    }
    await send(changed);
    await agree();
  }, 60_000);

  it('returns only resources that changed after _since', async () => {
    const instants = [...new Set(record.all.map(({ lastUpdated }) => lastUpdated))].sort();
    const drawn = Array.from({ length: QUESTIONS }, () => random.pick(instants));
    for (const since of [instants[0] ?? '', instants.at(-1) ?? '', ...drawn]) {
      await agree(`_since=${since}`, ({ lastUpdated }) => lastUpdated > since);
    }
  });
  it('returns only the types in _type', async () => {
    const types = [...new Set(WRITABLE_LINKS.map(({ type }) => type))];
    const drawn = Array.from({ length: QUESTIONS }, (_, index) =>
      Array.from({ length: 1 + (index % 4) }, () => random.pick(types)),
    );
    for (const named of [['Patient'], ...drawn]) {
      await agree(`_type=${named.join(',')}`, ({ resource }) => named.includes(resource.resourceType));
    }
  }, 60_000);

  it('returns only care between start and end, and resources without a care date', async () => {
    const edges = ['2015', '2018', '2019-06', '2020-02-29', '2024-12-28', '2021-03-04T05:06:07+02:00', '2030'];
    for (let question = 0; question < QUESTIONS; question++) {
      const at = random.integer(0, edges.length - 1);
      const [start, end] = random.pick([
        [edges[at], undefined],
        [undefined, edges[at]],
        [edges[at], edges[at]],
        [edges[0], edges[at]],
      ]);
      const query = Object.entries({ start, end }).flatMap(([name, edge]) =>
        edge === undefined ? [] : [`${name}=${encodeURIComponent(edge)}`],
      );
      await agree(query.join('&'), ({ resource }) => isAboutCareWithin(resource, start, end));
    }
  }, 60_000);

  it('returns the AuditEvents that another server wrote about the patient', async () => {
    const audited = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_AUDIT: 'all' } });
    try {
      for (const { id } of SUBJECTS.slice(0, 2)) await audited.get(`/fhir/Patient/${id}`);
      await audited.get('/fhir/Observation?subject=Patient/kim');
      await audited.get('/fhir/Patient/Kim/$everything');
    } finally {
      await audited.close();
    }
    const events = async (id: string): Promise<number> =>
      (await everything(id)).filter(({ resource }) => resource.resourceType === 'AuditEvent').length;
    expect(await Promise.all(SUBJECTS.map(({ id }) => events(id)))).toEqual([2, 1, 1, 0]);
  });
});
