import { type ChartEntry } from '../chart/chart-generator';
import { type Authorization, type HttpCall } from '../http-client';
import { ProgressBar } from '../progress-bar';
import { expectThat } from './broken-promise';
import { DEMO_CHART, DOCUMENT_ID } from './demo-data';
import { inParallel } from './in-parallel';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, stringAt, valueAt } from './value-at';

const WRITES_AT_ONCE = 8;

export async function tellChart(story: Story, authorization: Authorization): Promise<void> {
  const entries = [...DEMO_CHART.entries];
  const putOf = ({ resourceType, id, body }: ChartEntry): HttpCall => ({
    method: 'PUT',
    path: `/fhir/${resourceType}/${id}`,
    authorization,
    body: { json: body },
  });

  story.step(`A patient's chart: ${entries.length} resources, ${WRITES_AT_ONCE} at a time`);
  for (const entry of entries.slice(0, 1)) story.show(putOf(entry));
  story.tell(`… and ${entries.length - 1} more like it. A body that is stored already makes no new version.`);
  const bar = new ProgressBar({ label: '   load', total: entries.length });
  const countByStatus = new Map<number, number>();
  await inParallel(entries, WRITES_AT_ONCE, async (entry) => {
    const { status } = await story.send(putOf(entry), 200, 201);
    countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
    bar.advance();
  });
  story.tell(`created (201): ${countByStatus.get(201) ?? 0}, there already (200): ${countByStatus.get(200) ?? 0}`);
}

/** Fetches everything of the patient and compares it with the compartment according to the chart generator. */
export async function tellEverything(story: Story, authorization: Authorization): Promise<void> {
  story.step('Everything about the patient');
  const path = `/fhir/Patient/${DEMO_CHART.patientId}/$everything`;
  const { json } = await story.call({ method: 'GET', path, authorization }, 200);
  const received = listAt(json, 'entry').map((entry) => {
    return `${stringAt(entry, 'resource', 'resourceType')}/${stringAt(entry, 'resource', 'id')}`;
  });
  expectThat(valueAt(json, 'total') === received.length, 'the total is the number of entries');
  expectThat(received[0] === `Patient/${DEMO_CHART.patientId}`, 'the patient comes first');
  expectThat(new Set(received).size === received.length, 'no resource comes twice');

  const members = [...DEMO_CHART.entries].filter(({ inPatientCompartment }) => inPatientCompartment);
  const expected = [...members.map(({ resourceType, id }) => `${resourceType}/${id}`), `SDCDocument/${DOCUMENT_ID}`];
  // A server that audits reads has AuditEvents of this patient, which the generator cannot predict.
  const ofChart = received.filter((reference) => !reference.startsWith('AuditEvent/'));
  story.tell(textTable(['type', 'expected', 'received'], rowsByType(expected, ofChart)));
  const missing = expected.filter((reference) => !ofChart.includes(reference));
  const surplus = ofChart.filter((reference) => !expected.includes(reference));
  expectThat(missing.length === 0, `nothing is missing, but these are: ${missing.join(', ')}`);
  expectThat(surplus.length === 0, `nothing else comes, but these do: ${surplus.join(', ')}`);
  const others = [...DEMO_CHART.entries].length - members.length;
  story.tell(
    `exactly the ${expected.length} that belong to the patient; ${others} of the clinic and of others stayed out`,
  );
}

function rowsByType(expected: readonly string[], received: readonly string[]): string[][] {
  const countOf = (references: readonly string[], type: string): string =>
    String(references.filter((reference) => reference.startsWith(`${type}/`)).length);
  const types = new Set([...expected, ...received].map((reference) => reference.slice(0, reference.indexOf('/'))));
  return [...types].sort().map((type) => [type, countOf(expected, type), countOf(received, type)]);
}
