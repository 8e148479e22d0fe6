import { type Authorization } from '../http-client';
import { expectThat } from './broken-promise';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, shown, stringAt, valueAt } from './value-at';

/** Shows the server as its operators see it. */
export async function tellServer(story: Story, authorization: Authorization): Promise<void> {
  story.step('How is the server?');
  const { json } = await story.call({ method: 'GET', path: '/fhir/$server-status', authorization }, 200);
  const parts = listAt(json, 'parameter').filter((part) => valueAt(part, 'part') !== undefined);
  const status = new Map(parts.map((part) => [stringAt(part, 'name'), valuesOf(part)]));
  const requests = parts.filter((part) => stringAt(part, 'name') === 'requests').map(valuesOf);
  const columns = ['class', 'count', 'refused', 'failed', 'p50Seconds', 'p99Seconds'];
  story.tell(
    textTable(
      columns,
      requests.map((values) => columns.map((name) => cell(values.get(name)))),
    ),
  );
  expectThat(status.get('health')?.get('status') === 'pass', 'the health status is "pass"');
  expectThat(Number(status.get('sessions')?.get('active')) > 0, 'the Session of the demo is active');
}

const valuesOf = (part: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    listAt(part, 'part').map((one) => [
      stringAt(one, 'name'),
      valueAt(one, 'valueDecimal') ?? valueAt(one, 'valueCode'),
    ]),
  );

const cell = (value: unknown): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(3))) : shown(value ?? '');
