import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { call, storeAmendedRecord } from '../../support/amended-record';
import { login, type Person } from '../../../testing/world';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

interface Row {
  readonly type: string;
  readonly path: readonly string[];
  readonly label: readonly string[];
  readonly old?: { readonly text: string; readonly kind?: string; readonly unit?: string };
  readonly new?: { readonly text: string; readonly kind?: string; readonly unit?: string };
}

interface Told {
  readonly number?: number;
  readonly unsigned?: boolean;
  readonly sequence?: number;
  readonly status?: string;
  readonly isProven?: boolean;
  readonly user?: { readonly id: string };
  readonly recorder?: { readonly id: string };
  readonly values?: readonly Row[];
  readonly changes?: readonly Row[];
  readonly addenda: readonly (Omit<Told, 'addenda'> & {
    readonly type: string;
    readonly text?: string;
    readonly about?: object;
    readonly isAsShown?: boolean;
    readonly lost?: string;
  })[];
}

interface TargetRecord {
  readonly isDeleted?: boolean;
  readonly stored?: { readonly status: string; readonly facts: readonly Row[] };
  readonly chain: { readonly intact: boolean; readonly length: number; readonly head: string };
  readonly revisions: readonly Told[];
  readonly total: number;
}

/** The headers by which a browser requests a page. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const user = { resourceType: 'User', id: 'doc-1' };

describe('$amendments', () => {
  let app: TestApp;
  let database: Client;
  let nurse: Person;
  let documents = 0;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
    await database.query('set session_replication_role = replica');
    await storeAmendedRecord(app, 'vitals-7');
    const criteria = ['SDCDocument?patient=Patient/own-p'];
    nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria }] });
  });
  afterAll(() => app.close());

  const page = (id: string, headers: Record<string, string> = BROWSER): Promise<Received> =>
    app.get(`/SDCDocument/${id}/$amendments`, { headers });
  const record = async (id: string, type = 'SDCDocument'): Promise<TargetRecord> => {
    const answer = await app.get(`/fhir/${type}/${id}/$amendments?_format=json`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/fhir+json; charset=utf-8']);
    return answer.json();
  };

  async function signed(...bodies: readonly string[]): Promise<string> {
    const id = `d-${++documents}`;
    await app.put(`/SDCDocument/${id}`, { resourceType: 'SDCDocument', id, status: 'draft' });
    for (const [index, body] of bodies.entries()) {
      if (index > 0) await call(app, '/amend', { id });
      await call(app, '/sign', `{"document":{"resourceType":"SDCDocument","id":"${id}",${body}}}`);
    }
    return id;
  }
  const changesBetween = async (before: string, after: string): Promise<readonly Row[]> => {
    const { revisions } = await record(await signed(before, after));
    return (revisions[1]?.changes ?? []).filter(({ path }) => path[0] !== 'status');
  };
  const comment = (id: string, more: object = {}): Promise<void> =>
    call(app, '.addendum/add-comment', { target: { resourceType: 'SDCDocument', id }, user, text: 'x', ...more });

  describe('as JSON', () => {
    it('lists each addendum once, in order, with the changes between revisions', async () => {
      const { stored, chain, revisions, total } = await record('vitals-7');
      expect([chain.intact, chain.length, total, stored?.status]).toEqual([true, 8, 8, 'amended']);
      expect(revisions.map(({ number, status, addenda }) => [number, status, addenda.map(({ type }) => type)])).toEqual(
        [
          [0, undefined, ['svc.sdc.addendum/Comment']],
          [1, 'completed', ['Note', 'Comment', 'History'].map((kind) => `svc.sdc.addendum/${kind}`)],
          [2, 'amended', ['svc.sdc.addendum/Amendment', 'acme.sdc.addendum/Handover']],
        ],
      );
      expect(revisions[1]?.values?.map(({ label, new: now }) => [label.join(' › '), now?.text, now?.unit])).toEqual([
        ['Type', 'clinic.forms/VitalsDocument', undefined],
        ['Patient', 'Ana Rivera (Patient/p7)', undefined],
        ['Body temperature', '37.20', 'Cel'],
        ['Systolic blood pressure', '118', 'mm[Hg]'],
        ['Smoking status', 'Never smoked, code 266919005, system http://snomed.info/sct', undefined],
        ['Allergies › 1', 'penicillin', undefined],
        ['Allergies › 2', 'latex', undefined],
        ['Gone', 'true', undefined],
        ['Status', 'completed', undefined],
      ]);
      expect(
        revisions[2]?.changes?.map(({ type, label, old, new: now }) => [type, label.join(' › '), old?.text, now?.text]),
      ).toEqual([
        ['respelled', 'Body temperature', '37.20', '37.2'],
        ['changed', 'Systolic blood pressure', '118', '128'],
        ['reordered', 'Allergies', '["penicillin","latex"]', '["latex","penicillin"]'],
        ['removed', 'Gone', 'true', undefined],
        ['changed', 'Status', 'completed', 'amended'],
        ['added', 'Medication › 1 › Name', undefined, 'Ibuprofen'],
        ['added', 'Medication › 1 › Dose', undefined, '400'],
        ['added', 'Medication › 1 › Dose › Unit', undefined, 'mg'],
        ['added', 'Reason', undefined, 'Read from the wrong chart '],
      ]);
      expect(revisions[1]?.addenda[1]?.about).toEqual({
        path: ['8480-6'],
        label: ['Systolic blood pressure'],
        value: { text: '118', kind: 'number', unit: 'mm[Hg]' },
        isFound: true,
      });
      expect(revisions[2]?.addenda[0]?.isAsShown).toBe(true);
      expect([revisions[1]?.user?.id, revisions[1]?.recorder?.id]).toEqual(['doc-1', 'root']);
    });

    it.each<[string, string, string, readonly unknown[]]>([
      [
        'a unit',
        '"t":{"value":37,"unit":"Cel"}',
        '"t":{"value":98.6,"unit":"[degF]"}',
        [
          ['changed', 't/value', '37 Cel', '98.6 [degF]'],
          ['changed', 't/unit', 'Cel', '[degF]'],
        ],
      ],
      ['a string that becomes a number', '"n":"5"', '"n":5', [['changed', 'n', '5', '5 number']]],
      [
        'digits beyond doubles',
        '"n":0.10000000000000000001',
        '"n":0.1',
        [['changed', 'n', '0.10000000000000000001', '0.1']],
      ],
      ['an exponent', '"n":100', '"n":1e2', [['respelled', 'n', '100', '1e2']]],
      [
        'reordered array elements with a duplicate',
        '"a":[1,2,2]',
        '"a":[2,1,1]',
        [
          ['changed', 'a/0', '1', '2'],
          ['changed', 'a/1', '2', '1'],
          ['changed', 'a/2', '2', '1'],
        ],
      ],
      [
        'a value that becomes an object with key 0',
        '"a":1',
        '"a":{"0":"x"}',
        [
          ['removed', 'a', '1', undefined],
          ['added', 'a/0', undefined, 'x'],
        ],
      ],
      [
        'an empty list',
        '"a":[]',
        '"a":[1]',
        [
          ['removed', 'a', '[]', undefined],
          ['added', 'a/0', undefined, '1'],
        ],
      ],
    ])('shows a change of %s', async (_what, before, after, wanted) => {
      const side = (value: Row['new'], other: Row['new']): string | undefined =>
        value === undefined
          ? undefined
          : [value.text, value.unit ?? (other !== undefined && other.kind !== value.kind ? (value.kind ?? '') : '')]
              .join(' ')
              .trim();
      const changes = await changesBetween(before, after);
      expect(
        changes.map(({ type, path, old, new: now }) => [type, path.join('/'), side(old, now), side(now, old)]),
      ).toEqual(wanted);
    });

    it('marks a change that was not signed', async () => {
      const id = await signed('"dose":1');
      await app.put(`/SDCDocument/${id}`, { resourceType: 'SDCDocument', id, status: 'completed', dose: 2 });
      const last = (await record(id)).revisions.at(-1);
      expect([last?.unsigned, last?.changes?.map(({ path, new: now }) => [path, now?.text])]).toEqual([
        true,
        [[['dose'], '2']],
      ]);
      expect((await page(id)).text).toContain('Not signed: changes since revision 1');
    });

    it('has the same form for a workflow, and for a target with few or no addenda', async () => {
      await app.put('/SDCWorkflow/w1', { resourceType: 'SDCWorkflow', status: 'completed', title: 'Rounds' });
      const empty = await record('w1', 'SDCWorkflow');
      expect([empty.total, empty.revisions, empty.chain.intact]).toEqual([0, [], true]);
      await call(app, '.addendum/add-note', { target: { resourceType: 'SDCWorkflow', id: 'w1' }, user, text: 'done' });
      expect((await record('w1', 'SDCWorkflow')).revisions.map(({ number }) => number)).toEqual([0]);
      expect((await record(await signed('"a":1'))).revisions).toHaveLength(1);
    });

    it.each([
      ['?_format=json', {}, 'application/fhir+json'],
      ['?_format=text/html', {}, 'text/html'],
      ['?_format=html', { Accept: 'application/json' }, 'text/html'],
      ['', { Accept: 'application/json' }, 'application/json'],
      ['', { Accept: '*/*' }, 'text/html'],
      ['', { Accept: 'application/*' }, 'application/fhir+json'],
      ['', BROWSER, 'text/html'],
      ['?_format=yaml', {}, 'text/yaml'],
    ])('chooses the media type: %s %j', async (query, headers, mediaType) => {
      const answer = await app.get(`/SDCDocument/vitals-7/$amendments${query}`, { headers });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${mediaType}; charset=utf-8`]);
      expect(answer.headers.get('content-security-policy')).toEqual(
        mediaType === 'text/html' ? expect.any(String) : null,
      );
    });
  });

  describe('as a page', () => {
    it('is private to the caller, and its policy forbids scripts', async () => {
      const { status, headers, text } = await page('vitals-7');
      expect([status, headers.get('cache-control'), headers.get('vary')]).toEqual([
        200,
        'private, no-cache',
        'Accept, Accept-Encoding, Authorization',
      ]);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      expect(text).not.toMatch(/<script|<link|<img|<iframe|<form|javascript:|\son\w+=|src=/i);
      expect((await app.send('HEAD', '/SDCDocument/vitals-7/$amendments', { headers: BROWSER })).status).toBe(200);
      expect((await app.post('/SDCDocument/vitals-7/$amendments', {})).status).toBe(405);
    });

    const EVIL = `<script>x</script>"'&<img src=x onerror=x>`;
    it('escapes every text, at every position', async () => {
      const id = await signed(
        `"type":${JSON.stringify(EVIL)},"author":{"id":"a","resourceType":"User","display":${JSON.stringify(EVIL)}},"q":{"text":${JSON.stringify(EVIL)},"value":1,"unit":${JSON.stringify(EVIL)}},${JSON.stringify(EVIL)}:"k","list":["a",${JSON.stringify(EVIL)}],"c":{"code":${JSON.stringify(EVIL)},"text":${JSON.stringify(EVIL)}}`,
        `"q":{"text":${JSON.stringify(EVIL)},"value":2,"unit":${JSON.stringify(EVIL)}},${JSON.stringify(EVIL)}:${JSON.stringify(EVIL)},"list":[${JSON.stringify(EVIL)},"a"]`,
      );
      const target = { resourceType: 'SDCDocument', id };
      const evil = { resourceType: 'User', id: 'u', display: EVIL };
      await call(app, '.addendum/add-comment', { target, user: evil, text: EVIL, path: [EVIL, '0'] });
      await call(app, '.addendum/add-note', { target, user: evil, text: EVIL });
      await call(app, '.addendum/create-addendum', {
        addendum: { type: EVIL, target, user: evil, [EVIL]: EVIL, status: EVIL },
      });
      const history = { resource: { ...target, status: EVIL }, user };
      await call(app, '.addendum/add-to-history', history);
      await app.put(`/SDCDocument/${id}`, { ...target, status: EVIL, title: EVIL });
      const { status, text } = await page(id);
      expect(status).toBe(200);
      expect(text).not.toMatch(/<script|<img/);
      expect(
        text.split('&lt;script&gt;x&lt;/script&gt;&quot;&#39;&amp;&lt;img src=x onerror=x&gt;').length,
      ).toBeGreaterThan(25);
    });

    it.each<[string, string, string]>([
      ['a bidirectional control character', 'a\u202Eb', 'exactly: &quot;a\\u202eb&quot;'],
      ['a zero-width space', 'a\u200Bb', 'exactly: &quot;a\\u200bb&quot;'],
      ['a space at the end', 'a ', 'exactly: &quot;a &quot;'],
      ['a control character', 'a\u0007b', '<bdi>a\u{FFFD}b</bdi><code class="exact">exactly: &quot;a\\u0007b&quot;'],
      ['an empty text', '', '<em>empty text</em>'],
    ])('spells out %s', async (_what, text, shown) => {
      expect((await page(await signed(`"a":${JSON.stringify(text)}`))).text).toContain(shown);
    });

    it('shows prominently that the record was changed', async () => {
      const id = await signed('"dose":1', '"dose":2');
      await comment(id);
      await database.query(
        `update resource set body = replace(body, '"dose":2', '"dose":9') where type = 'SDCAddendum' and body like $1`,
        [`%"id":"${id}"%"dose":2%`],
      );
      const { text } = await page(id);
      expect(text).toContain('NOT INTACT: this record was changed after it was made');
      expect(text).toMatch(/<title>[^<]*NOT INTACT<\/title>/);
      expect(text).toContain('The text of the addendum is not the one that was recorded.');
      const { chain, revisions } = await record(id);
      expect([
        chain.intact,
        revisions.flatMap(({ isProven, addenda }) => [isProven, ...addenda.map((one) => one.isProven)]),
      ]).toEqual([false, [true, true, false, false, false]]);
      // The Amendment still lists the signed changes.
      expect(revisions[1]?.addenda[0]?.isAsShown).toBe(false);
      expect(text).toContain('What this Amendment lists');
    });

    it('names an addendum that is missing, or can no longer be parsed', async () => {
      const id = await signed('"a":1');
      await comment(id);
      await comment(id, { text: 'y' });
      const ids = (
        await database.query<{ addendum_id: string }>(
          'select addendum_id from addendum_entry where target_id = $1 order by sequence',
          [id],
        )
      ).rows;
      await database.query(`delete from resource where type = 'SDCAddendum' and id = $1`, [ids[1]?.addendum_id]);
      await database.query(`update resource set body = '{"a"' where type = 'SDCAddendum' and id = $1`, [
        ids[2]?.addendum_id,
      ]);
      const { revisions, total } = await record(id);
      expect([total, revisions[0]?.addenda.map(({ lost }) => lost)]).toEqual([
        3,
        ['It is gone from the database.', 'The text stored in its place cannot be read.'],
      ]);
      expect((await page(id)).text).toContain('Addendum number 2 cannot be shown');
    });
  });

  describe('access', () => {
    const ask = (path: string, authorization: string | null = nurse.bearer): Promise<Received> =>
      app.get(path, { authorization, headers: BROWSER });

    it('keeps to the granted rows', async () => {
      for (const patient of ['own-p', 'other-p']) {
        await app.put(`/SDCDocument/of-${patient}`, {
          resourceType: 'SDCDocument',
          status: 'completed',
          patient: { resourceType: 'Patient', id: patient },
        });
        await comment(`of-${patient}`);
      }
      expect((await ask('/SDCDocument/of-own-p/$amendments')).status).toBe(200);
      const [hidden, never] = await Promise.all([
        ask('/SDCDocument/of-other-p/$amendments'),
        ask('/SDCDocument/of-nobody/$amendments'),
      ]);
      expect([hidden.status, never.status]).toEqual([404, 404]);
      expect(hidden.text.replaceAll('of-other-p', 'of-nobody')).toBe(never.text);
    });

    it('does not say that a document was deleted if it was never stored', async () => {
      const resource = { resourceType: 'SDCDocument', id: 'elsewhere', status: 'completed' };
      await call(app, '.addendum/add-to-history', { resource, user });
      const [shown, { isDeleted, stored, total }] = [await page('elsewhere'), await record('elsewhere')];
      expect([isDeleted, stored, total]).toEqual([false, undefined, 1]);
      expect(shown.text).toContain('No version of it is stored on this server.');
    });

    it('shows the record of a deleted document to callers without row criteria', async () => {
      await app.put('/SDCDocument/gone-1', {
        resourceType: 'SDCDocument',
        patient: { resourceType: 'Patient', id: 'own-p' },
      });
      await comment('gone-1');
      await app.delete('/SDCDocument/gone-1');
      expect((await page('gone-1')).text).toContain('It was deleted');
      expect((await record('gone-1')).isDeleted).toBe(true);
      expect((await ask('/SDCDocument/gone-1/$amendments')).status).toBe(404);
    });

    it('returns errors as OperationOutcomes', async () => {
      await app.put('/SDCDocument/gone-2', { resourceType: 'SDCDocument' });
      await app.delete('/SDCDocument/gone-2');
      for (const [path, status] of [
        ['/SDCDocument/never/$amendments', 404],
        ['/SDCDocument/gone-2/$amendments', 410],
        ['/SDCWorkflow/vitals-7/$amendments', 404],
        ['/Patient/p1/$amendments', 404],
        ['/SDCDocument/a_b/$amendments', 400],
        ['/SDCDocument/vitals-7/$amendments?_format=pdf', 406],
      ] as const) {
        const answer = await app.get(path, { headers: BROWSER });
        expect([path, answer.status, answer.json<{ resourceType: string }>().resourceType]).toEqual([
          path,
          status,
          'OperationOutcome',
        ]);
      }
      expect((await ask('/SDCDocument/vitals-7/$amendments', null)).status).toBe(401);
    });

    it('is a separate Operation for policies', async () => {
      const clerk = await login(app, 'clerk', { policies: [] });
      expect((await ask('/SDCDocument/vitals-7/$amendments', clerk.bearer)).status).toBe(403);
      await app.put('/AccessPolicy/clerk', {
        engine: 'allow',
        link: [{ resourceType: 'Operation', id: 'FhirAmendments' }],
      });
      expect((await ask('/SDCDocument/vitals-7/$amendments', clerk.bearer)).status).toBe(200);
      expect((await ask('/SDCDocument/vitals-7', clerk.bearer)).status).toBe(403);
      await app.delete('/AccessPolicy/clerk');
    });
  });

  it('shows records of any length as a whole', async () => {
    const id = await signed(`"list":[${Array.from({ length: 5000 }, (_, index) => `{"n":${index}}`).join(',')}]`);
    const target = { resourceType: 'SDCDocument', id };
    const comments = Array.from({ length: 100 }, (_, index) => ({
      method: 'svc.sdc.addendum/add-comment',
      params: { target, user, text: `number ${index}` },
    }));
    for (let round = 0; round < 2; round++) expect((await app.post('/rpc', comments)).status).toBe(200);
    const { revisions, total } = await record(id);
    expect([total, revisions[0]?.values?.length, revisions[0]?.addenda.length]).toEqual([201, 5001, 200]);
    const { text } = await page(id);
    expect([
      text.split('<tr').length > 5000,
      text.includes('End of the record: 201 addenda shown, none left out.'),
    ]).toEqual([true, true]);
  });
});
