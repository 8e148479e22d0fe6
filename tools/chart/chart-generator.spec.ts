import { describe, expect, it } from '@jest/globals';
import { type ChartEntry, type ChartOptions, generateChart } from './chart-generator';

const SEEDS = [1, 7, 2024];

describe(generateChart, () => {
  it('makes the same bytes from the same seed, on each iteration', () => {
    const chart = generateChart({ seed: 7 });
    expect(bodiesOf(chart.entries)).toEqual(bodiesOf(chart.entries));
    expect(bodiesOf(generateChart({ seed: 7 }).entries)).toEqual(bodiesOf(chart.entries));
  });

  it('makes another chart from another seed', () => {
    const [one, two] = [1, 2].map((seed) => bodiesOf(generateChart({ seed, idPrefix: '' }).entries));
    expect(one).not.toEqual(two);
  });

  it.each([1, 20, 300, 2000])('makes exactly %d resources on request', (size) => {
    expect([...generateChart({ seed: 7, size }).entries]).toHaveLength(size);
  });

  it('makes entries one at a time, so that a huge chart begins at once', () => {
    const [first] = generateChart({ seed: 7, size: 1e15 }).entries;
    expect(first?.resourceType).toBe('Organization');
  });

  it.each(SEEDS)('contains at least 20 resource types with seed %d', (seed) => {
    expect(typesOf({ seed }).size).toBeGreaterThanOrEqual(20);
  });

  it.each(SEEDS)('contains at least 15 resource types in a chart of 20 with seed %d', (seed) => {
    expect(typesOf({ seed, size: 20 }).size).toBeGreaterThanOrEqual(15);
  });

  it.each(SEEDS)('assigns unique ids that FHIR allows with seed %d', (seed) => {
    const ids = [...generateChart({ seed, size: 2000 }).entries].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[A-Za-z0-9\-.]{1,64}$/.test(id))).toEqual([]);
  });

  it('begins every id with the prefix', () => {
    const { entries, patientId } = generateChart({ seed: 7, size: 40, idPrefix: 'ward-b.' });
    expect(patientId).toBe('ward-b.patient-1');
    expect([...entries].filter(({ id }) => !id.startsWith('ward-b.'))).toEqual([]);
  });

  it.each(SEEDS)('refers only to earlier resources with seed %d', (seed) => {
    const earlier = new Set<string>();
    const dangling: string[] = [];
    for (const entry of generateChart({ seed, size: 2000 }).entries) {
      dangling.push(...referencesIn(entry).filter((reference) => !earlier.has(reference)));
      earlier.add(`${entry.resourceType}/${entry.id}`);
    }
    expect(dangling).toEqual([]);
  });

  it('gives each entry the type and id of its body', () => {
    for (const { resourceType, id, body } of generateChart({ seed: 7 }).entries) {
      expect(JSON.parse(body)).toMatchObject({ resourceType, id });
    }
  });

  it('writes decimals with their trailing zeros', () => {
    const all = bodiesOf(generateChart({ seed: 7 }).entries).join('\n');
    expect(all).toMatch(/"value":\d+\.\d0[,}]/);
  });

  it.each(SEEDS)('keeps the observations of a visit between its first and its last minute with seed %d', (seed) => {
    const periods = new Map<string, Period>();
    const strangers: string[] = [];
    for (const { resourceType, id, body } of generateChart({ seed, size: 1000 }).entries) {
      const resource = JSON.parse(body) as Dated;
      if (resource.period) periods.set(`${resourceType}/${id}`, resource.period);
      const period = resource.encounter && periods.get(resource.encounter.reference);
      const time = resource.effectiveDateTime;
      if (period && time && !(period.start <= time && time <= period.end)) strangers.push(id);
    }
    expect(periods.size).toBeGreaterThan(0);
    expect(strangers).toEqual([]);
  });

  it('orders the visits from registration to the end of 2024', () => {
    const starts = [...generateChart({ seed: 7 }).entries]
      .filter(({ resourceType }) => resourceType === 'Encounter')
      .map(({ body }) => (JSON.parse(body) as Dated).period?.start ?? '');
    expect(starts).toEqual([...starts].sort());
    expect(starts.at(-1)?.slice(0, 4)).toMatch(/^202[2-4]$/);
  });
});

describe('inPatientCompartment', () => {
  const { entries, patientId } = generateChart({ seed: 7, size: 600 });
  const all = [...entries];

  it('contains the patient, but no clinic staff and no places', () => {
    expect(compartmentOf(all, 'Patient')).toEqual([patientId]);
    expect(['Practitioner', 'Organization', 'Location'].flatMap((type) => compartmentOf(all, type))).toEqual([]);
  });

  it('contains measurements by the patient on somebody else, but not those of a nurse', () => {
    const ofParent = all.filter(({ body }) => body.includes('patient-2"') && body.includes('"Observation"'));
    const byPatient = ofParent.filter(({ body }) =>
      body.includes(`"performer":[{"reference":"Patient/${patientId}"}]`),
    );
    expect(byPatient.length).toBeGreaterThan(0);
    expect(ofParent.length).toBeGreaterThan(byPatient.length);
    expect(compartmentOf(ofParent, 'Observation')).toEqual(byPatient.map(({ id }) => id));
  });

  it('contains a Provenance that targets the patient, and none that targets a note', () => {
    const ofPatient = all.filter(({ body }) => body.includes(`"target":[{"reference":"Patient/${patientId}"}]`));
    expect(compartmentOf(all, 'Provenance')).toEqual(ofPatient.map(({ id }) => id));
    expect(all.filter(({ resourceType }) => resourceType === 'Provenance').length).toBeGreaterThan(ofPatient.length);
  });
});

interface Period {
  readonly start: string;
  readonly end: string;
}

interface Dated {
  readonly period?: Period;
  readonly encounter?: { readonly reference: string };
  readonly effectiveDateTime?: string;
}

function bodiesOf(entries: Iterable<ChartEntry>): string[] {
  return [...entries].map(({ body }) => body);
}

function typesOf(options: ChartOptions): Set<string> {
  return new Set([...generateChart(options).entries].map(({ resourceType }) => resourceType));
}

function compartmentOf(entries: readonly ChartEntry[], type: string): string[] {
  return entries.filter((entry) => entry.inPatientCompartment && entry.resourceType === type).map(({ id }) => id);
}

function referencesIn({ body }: ChartEntry): string[] {
  return [...body.matchAll(/"reference":"([^"]+)"/g)].map(([, reference]) => reference ?? '');
}
