import { type GeneratedChart, generateChart } from '../../tools/chart/chart-generator';
import { type TestApp } from '../../testing/test-app';

/** A resource of a generated chart, as it was sent. */
export interface Loaded {
  readonly resourceType: string;
  readonly id: string;
  readonly text: string;
  readonly value: Record<string, unknown>;
  readonly inPatientCompartment: boolean;
}

export interface LoadedChart {
  readonly patientId: string;
  readonly resources: readonly Loaded[];
}

/** Resources of one transaction. They have one time of update, and the next transaction has a later one. */
const TOGETHER = 10;

/** Writes a generated chart. Returns the sent resources, the oracle of a spec. */
export async function loadChart(
  app: TestApp,
  options: { seed: number; size: number; idPrefix?: string },
): Promise<LoadedChart> {
  const chart: GeneratedChart = generateChart(options);
  const resources = [...chart.entries].map(({ resourceType, id, body, inPatientCompartment }) => {
    const value = JSON.parse(body) as Record<string, unknown>;
    return { resourceType, id, text: body, value, inPatientCompartment };
  });
  for (let at = 0; at < resources.length; at += TOGETHER) await store(app, resources.slice(at, at + TOGETHER));
  return { patientId: chart.patientId, resources };
}

/** Sends the bodies as texts, since values would not keep the digits of numbers. */
async function store(app: TestApp, resources: readonly Loaded[]): Promise<void> {
  const entry = resources.map(
    ({ resourceType, id, text }) => `{"resource":${text},"request":{"method":"PUT","url":"${resourceType}/${id}"}}`,
  );
  const bundle = `{"resourceType":"Bundle","type":"transaction","entry":[${entry.join()}]}`;
  const { status, text } = await app.post('/fhir', bundle);
  if (status !== 200) throw new Error(`The transaction was answered with ${status}: ${text}`);
}
