import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateChart } from '../../../tools/chart/chart-generator';
import { hashOf } from '../../../tools/load/list-files';
import { LoadState } from '../../../tools/load/load-state';
import { type LoadReport, load } from '../../../tools/load/loading';
import { ROOT, type TestApp, startTestApp } from '../../../testing/test-app';

const chart = [...generateChart({ seed: 7, size: 120, idPrefix: 'load-' }).entries];
const bundle = (type: string, entry: readonly object[]): string =>
  JSON.stringify({ resourceType: 'Bundle', type, entry });

describe('npm run load', () => {
  let app: TestApp;
  let folder: string;
  let statePath: string;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-load-'));
    statePath = join(folder, 'state');
    await mkdir(join(folder, 'data'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const file = (name: string, text: string): Promise<void> => writeFile(join(folder, 'data', name), text);
  const run = (options: { restart?: boolean } = {}): Promise<LoadReport> => {
    const target = { baseUrl: `${app.url}/fhir`, authorization: ROOT, wait: () => Promise.resolve() };
    const state = LoadState.open(statePath, target.baseUrl, options);
    return load([join(folder, 'data')], { target, state, lanes: 3, output: { write: () => undefined } });
  };
  const storedOf = ({ storedByType }: LoadReport): number =>
    [...storedByType.values()].reduce((sum, count) => sum + count, 0);

  it('loads NDJSON with all digits, and loads nothing the second time', async () => {
    await file('chart.ndjson', chart.map(({ body }) => body).join('\n'));
    const report = await run();
    expect([storedOf(report), report.failures, report.unreadable]).toEqual([chart.length, [], []]);
    for (const { resourceType, id, body } of chart.slice(0, 20)) {
      const { text } = await app.get(`/fhir/${resourceType}/${id}`);
      expect(text.replace(/,"meta":\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/, '')).toBe(body);
    }
    const again = await run();
    expect([storedOf(again), again.skipped]).toEqual([0, chart.length]);
    expect(storedOf(await run({ restart: true }))).toBe(chart.length);
  });

  it('O9: loads organizations, then practitioners, then resources that refer to them, by content and not by file name', async () => {
    const organization = { resourceType: 'Organization', identifier: [{ value: 'load-o' }], name: 'Ward' };
    const role = { organization: { reference: 'Organization?identifier=load-o' } };
    const practitioner = { resourceType: 'Practitioner', identifier: [{ value: 'load-p' }] };
    const reference = { reference: 'Practitioner?identifier=load-p' };
    await file(
      'a.json',
      bundle('transaction', [
        {
          resource: { resourceType: 'Basic', code: { text: 'x' }, author: reference },
          request: { method: 'POST', url: 'Basic' },
        },
      ]),
    );
    await file(
      'b.json',
      bundle('transaction', [
        { resource: practitioner, request: { method: 'POST', url: 'Practitioner' } },
        {
          resource: { resourceType: 'PractitionerRole', ...role },
          request: { method: 'POST', url: 'PractitionerRole' },
        },
      ]),
    );
    await file(
      '0-z.json',
      bundle('transaction', [{ resource: organization, request: { method: 'POST', url: 'Organization' } }]),
    );
    await file(
      'collection.json',
      bundle(
        'collection',
        Array.from({ length: 300 }, (_, n) => ({
          resource: { resourceType: 'List', id: `load-${n}`, status: 'current', mode: 'working' },
        })),
      ),
    );
    await file('one.json', JSON.stringify({ resourceType: 'Device', id: 'load-one' }));
    const report = await run();
    expect([report.failures, report.unreadable]).toEqual([[], []]);
    expect(Object.fromEntries(report.storedByType)).toEqual({
      ...{ Basic: 1, Organization: 1, Practitioner: 1, PractitionerRole: 1, List: 300, Device: 1 },
    });
  });

  it('O9: ends at once if no server answers', async () => {
    await file('one.json', JSON.stringify({ resourceType: 'Device', id: 'load-one' }));
    const target = { baseUrl: 'http://127.0.0.1:1/fhir', authorization: ROOT, wait: () => Promise.reject(new Error()) };
    const state = LoadState.open(statePath, target.baseUrl, {});
    await expect(load([join(folder, 'data')], { target, state, lanes: 3 })).rejects.toThrow(
      /^No server answers at http:\/\/127\.0\.0\.1:1\/fhir \(.+\): start it, or set BASE_URL or PORT\.$/,
    );
  });

  it('keeps the records of two concurrent loads', async () => {
    await file('a.ndjson', '{"resourceType":"Patient"}');
    await file('b.ndjson', '{"resourceType":"Patient"}\n{"resourceType":"Patient"}');
    const loadOne = (name: string): Promise<LoadReport> => {
      const target = { baseUrl: `${app.url}/fhir`, authorization: ROOT };
      const state = LoadState.open(statePath, target.baseUrl);
      return load([join(folder, 'data', name)], { target, state, lanes: 1, output: { write: () => undefined } });
    };
    await Promise.all([loadOne('a.ndjson'), loadOne('b.ndjson')]);
    const again = await run();
    expect([storedOf(again), again.skipped]).toEqual([0, 3]);
  });

  it('continues after an incomplete record, and with records of release 0.2.0', async () => {
    await file('a.ndjson', '{"resourceType":"Patient"}');
    await file('b.ndjson', '{"resourceType":"Device"}');
    const [a, b] = await Promise.all(['a.ndjson', 'b.ndjson'].map((name) => hashOf(join(folder, 'data', name))));
    const server = `${app.url}/fhir`;
    await writeFile(statePath, `${JSON.stringify({ [server]: { [a ?? '']: { 0: [] } } })}\n{"${server}":{"${b ?? ''}`);
    const report = await run();
    expect([Object.fromEntries(report.storedByType), report.skipped]).toEqual([{ Device: 1 }, 1]);
    expect(storedOf(await run())).toBe(0);
  });

  it('names file, entry, status and reason of failures, and repeats only these', async () => {
    const policy = (engine: string): object => ({ resourceType: 'AccessPolicy', id: `load-${engine}`, engine });
    await file(
      'mixed.ndjson',
      [policy('none'), { resourceType: 'Device' }].map((line) => JSON.stringify(line)).join('\n'),
    );
    await file('broken.ndjson', '{"resourceType":"Patient"}\n{"resourceType"');
    const report = await run();
    expect(report.failures.map(({ file: path, entry, status, reason }) => [path, entry.place, status, reason])).toEqual(
      [[join(folder, 'data', 'mixed.ndjson'), 'line 1', 422, expect.stringContaining('AccessPolicy.engine must be')]],
    );
    expect(report.unreadable).toEqual([
      { file: join(folder, 'data', 'broken.ndjson'), reason: expect.stringMatching(/^line 2: Malformed JSON/) },
    ]);
    const again = await run();
    expect([storedOf(again), again.failures.length]).toEqual([0, 1]);
  });
});
