import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { ServiceError } from '../../../src/platform/errors/service-error';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';
import { type ResourceDraft } from '../../../src/model/resource-draft';
import { ForResourceType, type ResourceRule } from '../../../src/resource/hooks/resource-rule';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

interface Document {
  readonly id: string;
  readonly status?: string;
  readonly meta: { readonly versionId: string };
  readonly [member: string]: unknown;
}

interface Addendum {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  readonly changed?: boolean;
  readonly snapshot?: Document;
  readonly [member: string]: unknown;
}

/** Number of rounds; for a longer run set `RACE_ROUNDS=500`. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const RACE_MILLISECONDS = 30_000 + ROUNDS * 2000;

const user = { id: 'doc-1', resourceType: 'User' };
const notFound = {
  status: 422,
  body: { error: { message: 'Resource not found', errors: [expect.objectContaining({ path: expect.any(Array) })] } },
};

/** A rule for documents, as a module of another team can define it. */
@Injectable()
@ForResourceType('SDCDocument')
class DocumentRule implements ResourceRule {
  check({ value }: ResourceDraft): void {
    if (value.refused === true)
      throw new ServiceError('unprocessable', 'This is not wanted here.', { expression: 'SDCDocument.refused' });
  }
}

@Injectable()
@OnResourceChange({ types: ['SDCAddendum'] })
class HistoryVeto implements ResourceChangeListener {
  onChange({ current }: ResourceChange): Promise<void> {
    const isVetoed = current?.text.includes('"isVetoed":true') === true;
    return isVetoed ? Promise.reject(new ServiceError('conflict', 'No History of this.')) : Promise.resolve();
  }
}

@Module({ providers: [DocumentRule, HistoryVeto] })
class DocumentExtensions {}

describe('documents by RPC', () => {
  let app: TestApp;
  let other: TestApp;
  let ada: Person;
  let documents = 0;

  beforeAll(async () => {
    app = await startTestApp({ modules: [DocumentExtensions] });
    other = await startTestApp({ databaseUrl: app.databaseUrl });
    ada = await login(app, 'ada');
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const send = (method: string, params: object | string, by?: string, server = app): Promise<Received> =>
    server.post(
      '/rpc',
      `{"method":"svc.sdc${method}","params":${typeof params === 'string' ? params : JSON.stringify(params)}}`,
      by === undefined ? {} : { authorization: by },
    );
  const call = async (
    method: string,
    params: object | string,
    by?: string,
  ): Promise<{ status: number; body: unknown }> => {
    const answer = await send(method, params, by);
    return { status: answer.status, body: answer.json() };
  };
  async function resultOf<T>(method: string, params: object | string, by?: string): Promise<T> {
    const answer = await send(method, params, by);
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return answer.json<{ result: T }>().result;
  }
  const addendaOf = (id: string): Promise<readonly Addendum[]> =>
    resultOf('.addendum/get-addendums', { target: { id, resourceType: 'SDCDocument' } });
  const read = async (id: string): Promise<Document> => (await app.get(`/SDCDocument/${id}`)).json<Document>();
  const versionsOf = async (id: string): Promise<{ total: number; entry: { resource?: Document }[] }> =>
    (await app.get(`/SDCDocument/${id}/_history`)).json();

  async function stored(status: unknown, content: object = {}, type = 'SDCDocument'): Promise<string> {
    const id = `d-${++documents}`;
    expect((await app.put(`/${type}/${id}`, { resourceType: type, status, ...content })).status).toBe(201);
    return id;
  }
  const bodyOf = (id: string, content: object = {}): object => ({
    document: { id, resourceType: 'SDCDocument', ...content },
  });

  describe('the status', () => {
    const after: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
      draft: { save: 'in-progress', sign: 'completed' },
      'in-progress': { save: 'in-progress', sign: 'completed' },
      'in-amendment': { save: 'in-amendment', sign: 'amended', amend: 'in-amendment' },
      completed: { amend: 'in-amendment' },
      amended: { amend: 'in-amendment' },
      canceled: {},
      new: {},
      none: {},
      7: {},
    };
    const rows = Object.entries(after).flatMap(([from, next]) =>
      ['save', 'sign', 'amend'].map((method) => [from, method, next[method]] as const),
    );

    it.each(rows)('is changed from %s by %s to %s (undefined: refused)', async (from, method, to) => {
      const id = await stored(from === 'none' ? undefined : from === '7' ? 7 : from);
      const params = method === 'amend' ? { id } : bodyOf(id, { a: 1 });
      const before = await read(id);
      const { status, body } = await call(`/${method}`, params);
      if (to === undefined) {
        expect({ status, body }).toEqual({
          status: 422,
          body: { error: { message: expect.stringMatching(/^A document .* cannot be /), type: 'sdc.error/status' } },
        });
        expect([await read(id), await addendaOf(id)]).toEqual([before, []]);
        return;
      }
      expect(status).toBe(200);
      const { result } = body as { result: Document & { document: Document } };
      const document = method === 'amend' ? result : result.document;
      expect(document).toEqual(await read(id));
      expect(document).toMatchObject({ status: to, ...(method === 'amend' ? {} : { a: 1 }) });
    });

    it.each([
      [
        'save',
        'completed',
        'A document that is completed cannot be saved, only one that is draft, in-progress, in-amendment. Amend it first.',
      ],
      [
        'sign',
        'amended',
        'A document that is amended cannot be signed, only one that is draft, in-progress, in-amendment. It is signed already; amend it to sign it again.',
      ],
      [
        'amend',
        'draft',
        'A document that is draft cannot be amended, only one that is completed, amended, in-amendment.',
      ],
      [
        'amend',
        'x'.repeat(9000),
        'A document without a known status cannot be amended, only one that is completed, amended, in-amendment.',
      ],
    ])('does not allow %s, and the error says what to do', async (method, status, message) => {
      const id = await stored(status);
      const params = method === 'amend' ? { id } : bodyOf(id);
      expect(await call(`/${method}`, params)).toEqual({
        status: 422,
        body: { error: { message, type: 'sdc.error/status' } },
      });
    });

    it('comes from the stored document, not from the one that is sent', async () => {
      const id = await stored('draft');
      const saved = await resultOf<{ document: Document }>('/save', bodyOf(id, { status: 'completed' }));
      expect(saved.document.status).toBe('in-progress');
      await resultOf('/sign', bodyOf(id, { status: 'draft' }));
      expect(await call('/save', bodyOf(id, { status: 'in-progress' }))).toMatchObject({ status: 422 });
    });
  });

  describe('svc.sdc/save', () => {
    it('stores every byte as sent, except the status', async () => {
      const id = await stored('draft', { gone: true });
      const content = `"b":1.10,"status":"x","a":{"z":12345678901234567890,"y":[1e2,-0.0]},"é":"\\u00e9\\/"`;
      const { text } = await send('/save', `{"document":{"resourceType":"SDCDocument","id":"${id}", ${content}}}`);
      const document = (await app.get(`/SDCDocument/${id}`)).text;
      expect(text).toBe(`{"result":{"document":${document}}}`);
      expect(document).toContain(`},${content.replace('"x"', '"in-progress"')}}`);
      expect(document).not.toContain('gone');
    });

    it('creates no version when nothing changes', async () => {
      const id = await stored('in-progress', { a: 1 });
      const first = await resultOf('/save', bodyOf(id, { status: 'in-progress', a: 1 }));
      expect(first).toEqual({ document: await read(id) });
      expect((await versionsOf(id)).total).toBe(1);
      expect(await addendaOf(id)).toEqual([]);
    });

    it.each(['nobody', '../Patient', 'x'.repeat(64)])('does not find %s', async (id) => {
      const found = /^[\w-]+$/.test(id);
      expect((await call('/save', bodyOf(id))).body).toMatchObject({
        error: { message: found ? 'Resource not found' : 'Invalid params' },
      });
    });

    it('does not find a deleted document, and does not restore it', async () => {
      const id = await stored('draft');
      await app.delete(`/SDCDocument/${id}`);
      for (const [method, params] of [
        ['save', bodyOf(id)],
        ['sign', bodyOf(id)],
        ['amend', { id }],
      ] as const) {
        expect(await call(`/${method}`, params)).toEqual(notFound);
      }
      expect((await app.get(`/SDCDocument/${id}`)).status).toBe(410);
    });

    it('is refused for a version that is no longer the stored one', async () => {
      const id = await stored('draft');
      const { meta } = await read(id);
      await resultOf('/save', bodyOf(id, { meta, a: 1 }));
      for (const method of ['save', 'sign']) {
        expect(await call(`/${method}`, bodyOf(id, { meta, a: 2 }))).toEqual({
          status: 422,
          body: {
            error: {
              message:
                'The document was changed meanwhile: the stored version is 2, not 1. Read it again and repeat the change.',
              type: 'sdc.error/version',
            },
          },
        });
      }
      expect(await read(id)).toMatchObject({ a: 1 });
    });

    it('returns the error of a resource rule, with its path', async () => {
      const id = await stored('draft');
      for (const method of ['/save', '/sign']) {
        expect(await call(method, bodyOf(id, { refused: true }))).toEqual({
          status: 422,
          body: {
            error: {
              message: 'This is not wanted here.',
              type: 'sdc.error/validation',
              errors: [{ path: ['document', 'refused'], message: 'This is not wanted here.' }],
            },
          },
        });
      }
    });
  });

  describe('svc.sdc/sign', () => {
    it('stores the status and a History with the snapshot', async () => {
      const id = await stored('in-progress');
      const { document, exported } = await resultOf<{ document: Document; exported: object }>('/sign', {
        ...bodyOf(id, { a: 1 }),
        user,
      });
      expect(exported).toEqual({ 'to-create': [], 'to-update': [], 'to-delete': [] });
      expect(document).toEqual(await read(id));
      expect(await addendaOf(id)).toEqual([
        expect.objectContaining({
          type: 'svc.sdc.addendum/History',
          status: 'completed',
          changed: true,
          snapshot: document,
          user,
          recorder: { id: 'root', resourceType: 'Client' },
        }),
      ]);
    });

    it('keeps every digit in the snapshot', async () => {
      const id = await stored('draft');
      await send('/sign', `{"document":{"id":"${id}","dose":{"value":1.10,"n":12345678901234567890}}}`);
      const { text } = await send('.addendum/get-addendums', { target: { id, resourceType: 'SDCDocument' } });
      expect(text).toContain(`"snapshot":${(await app.get(`/SDCDocument/${id}`)).text}`);
      expect(text).toContain('"dose":{"value":1.10,"n":12345678901234567890}');
    });

    it('stores an Amendment too after svc.sdc/amend', async () => {
      const id = await stored('draft');
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      await resultOf('/amend', { id });
      await resultOf('/save', bodyOf(id, { a: 2 }));
      await resultOf('/sign', bodyOf(id, { a: 3 }));
      const addenda = await addendaOf(id);
      expect(addenda.map(({ type, status, changed }) => [type, status, changed])).toEqual([
        ['svc.sdc.addendum/History', 'completed', true],
        ['svc.sdc.addendum/History', 'in-amendment', false],
        ['svc.sdc.addendum/History', 'amended', true],
        ['svc.sdc.addendum/Amendment', undefined, undefined],
      ]);
      const [first, , third, amendment] = addenda;
      expect(amendment).toMatchObject({
        'old-revision': { id: first?.id },
        'new-revision': { id: third?.id },
        diff: [
          { type: 'replace', path: ['a'], old: '1', new: '3' },
          { type: 'replace', path: ['status'], old: 'completed', new: 'amended' },
        ],
      });
    });

    it('stores an Amendment with only the status after an amendment without other changes', async () => {
      const id = await stored('draft');
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      await resultOf('/amend', { id });
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      expect((await addendaOf(id))[3]?.diff).toMatchObject([{ path: ['status'], old: 'completed', new: 'amended' }]);
    });

    it('stores a complete Amendment for a document that was first signed by PUT', async () => {
      const id = await stored('completed', { a: 1 });
      await resultOf('/amend', { id });
      await resultOf('/sign', bodyOf(id, { a: 2 }));
      const addenda = await addendaOf(id);
      expect(addenda.map(({ type, status }) => [type.split('/')[1], status])).toEqual([
        ['History', 'completed'],
        ['History', 'in-amendment'],
        ['History', 'amended'],
        ['Amendment', undefined],
      ]);
      expect(addenda[3]?.diff).toHaveLength(2);
    });

    it('stores no older difference again for an amendment that changed nothing', async () => {
      const id = await stored('in-amendment', { a: 1 });
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      await resultOf('/amend', { id });
      await resultOf('/sign', bodyOf(id, { a: 2 }));
      await resultOf('/amend', { id });
      await resultOf('/sign', bodyOf(id, { a: 2 }));
      const addenda = await addendaOf(id);
      expect(addenda.map(({ type, changed }) => [type.split('/')[1], changed])).toEqual([
        ['History', true],
        ['History', false],
        ['History', true],
        ['Amendment', undefined],
        ['History', false],
        ['History', false],
      ]);
    });

    it('stores nothing when a part of it fails', async () => {
      const id = await stored('draft');
      const before = await read(id);
      const { status, body } = await call('/sign', bodyOf(id, { isVetoed: true }));
      expect({ status, body }).toEqual({
        status: 422,
        body: { error: { message: 'No History of this.', type: 'conflict' } },
      });
      expect([await read(id), await addendaOf(id)]).toEqual([before, []]);
    });
  });

  describe('svc.sdc/amend', () => {
    it('returns the document, and stores a History without snapshot', async () => {
      const id = await stored('draft');
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      const document = await resultOf('/amend', { id });
      expect(document).toEqual(await read(id));
      expect((await addendaOf(id)).slice(1)).toEqual([
        expect.objectContaining({ type: 'svc.sdc.addendum/History', status: 'in-amendment', changed: false }),
      ]);
      expect((await addendaOf(id))[1]).not.toHaveProperty('snapshot');
    });

    it('called again returns the same document and stores nothing', async () => {
      const id = await stored('completed');
      const first = await send('/amend', { id });
      const addenda = await addendaOf(id);
      const second = await send('/amend', { id });
      expect(second.text).toBe(first.text);
      expect([await addendaOf(id), (await versionsOf(id)).total]).toEqual([addenda, 2]);
    });

    it.each(['nobody', '../x', 'a b', 'x'.repeat(100_000)])('does not find %s', async (id) => {
      expect(await call('/amend', { id })).toEqual(notFound);
    });
  });

  describe('a dry run', () => {
    it.each([
      ['sign', 'draft', 'completed'],
      ['sign', 'in-amendment', 'amended'],
      ['amend', 'completed', 'in-amendment'],
    ])('of %s returns the result, and stores nothing', async (method, from, to) => {
      const id = await stored(from, { a: 1 });
      const before = await read(id);
      const params = method === 'amend' ? { id } : bodyOf(id, { a: 2 });
      const result = await resultOf<Document & { document?: Document }>(`/${method}`, { ...params, 'dry-run': true });
      const shown = result.document ?? result;
      expect(shown).toEqual({ ...before, status: to, ...(method === 'amend' ? {} : { a: 2 }) });
      expect([await read(id), await addendaOf(id), (await versionsOf(id)).total]).toEqual([before, [], 1]);
      if (method === 'sign') await resultOf('/sign', { document: { ...shown } });
    });

    it('is recorded as a call with SVC_AUDIT=all, since no change of it remains', async () => {
      const audited = await startTestApp({ environment: { SVC_AUDIT: 'all' }, databaseUrl: app.databaseUrl });
      try {
        const id = await stored('completed');
        const count = async (): Promise<number> =>
          (await audited.get('/AuditEvent?_count=0')).json<{ total: number }>().total;
        const before = await count();
        expect((await send('/amend', { id, 'dry-run': true }, undefined, audited)).status).toBe(200);
        // The first search for AuditEvents and the dry run are recorded by one AuditEvent each.
        expect(await count()).toBe(before + 2);
        expect((await send('/amend', { id }, undefined, audited)).status).toBe(200);
        // Five more AuditEvents: of the second search, of the History of the body signed by PUT, of the new status, of
        // the document, and of the call.
        expect(await count()).toBe(before + 7);
      } finally {
        await audited.close();
      }
    });

    it('returns the same refusals', async () => {
      const id = await stored('completed');
      expect(await call('/sign', { ...bodyOf(id), 'dry-run': true })).toMatchObject({ status: 422 });
      expect(await call('/amend', { id: 'nobody', 'dry-run': true })).toEqual(notFound);
      expect(await call('/amend', { id, 'dry-run': 'yes' })).toMatchObject({
        body: { error: { errors: [{ path: ['dry-run'], message: 'dry-run must be a boolean value' }] } },
      });
    });
  });

  describe('notes by id', () => {
    it.each([
      ['/add-note', 'SDCDocument'],
      ['/add-workflow-note', 'SDCWorkflow'],
    ])('%s adds a Note to a signed %s only', async (method, type) => {
      const id = await stored('completed', {}, type);
      const note = await resultOf<Addendum>(method, { id, user, text: 'Seated' });
      expect(note).toMatchObject({ type: 'svc.sdc.addendum/Note', target: { id, resourceType: type }, text: 'Seated' });
      expect(await resultOf('.addendum/get-addendums', { target: { id, resourceType: type } })).toEqual([note]);
      const draft = await stored('draft', {}, type);
      expect(await call(method, { id: draft, user, text: 'x' })).toMatchObject({
        status: 422,
        body: { error: { message: `A Note needs a ${type} that is completed or amended; add a Comment instead.` } },
      });
      for (const unknown of ['nobody', 'a b', '']) {
        const { status, body } = await call(method, { id: unknown, user, text: 'x' });
        expect({ status, body }).toEqual(unknown === '' ? expect.objectContaining({ status: 422 }) : notFound);
      }
    });

    it('svc.sdc/get-workflow-addendums lists the addenda of a workflow', async () => {
      const id = await stored('new', {}, 'SDCWorkflow');
      expect(await resultOf('/get-workflow-addendums', { id })).toEqual([]);
      const comment = await resultOf('.addendum/add-comment', {
        target: { id, resourceType: 'SDCWorkflow' },
        user,
        text: 'x',
      });
      expect(await resultOf('/get-workflow-addendums', { id })).toEqual([comment]);
      expect(await call('/get-workflow-addendums', { id: await stored('draft') })).toEqual(notFound);
    });
  });

  describe('the author of a signature', () => {
    it('is the user that the call names, else the caller; the caller is stored as recorder', async () => {
      const id = await stored('draft');
      const own = { id: 'ada', resourceType: 'User' };
      await resultOf('/sign', bodyOf(id), ada.bearer);
      await resultOf('/amend', { id, user }, ada.bearer);
      await resultOf('/sign', bodyOf(id, { a: 1 }));
      expect((await addendaOf(id)).map(({ user: by, recorder }) => [by, recorder])).toEqual([
        [own, own],
        [user, own],
        ...Array<unknown>(2).fill([
          { id: 'root', resourceType: 'Client' },
          { id: 'root', resourceType: 'Client' },
        ]),
      ]);
    });

    it('must be the caller with SVC_ADDENDUM_AUTHOR=caller', async () => {
      const strict = await startTestApp({
        environment: { SVC_ADDENDUM_AUTHOR: 'caller' },
        databaseUrl: app.databaseUrl,
      });
      try {
        const id = await stored('draft');
        expect((await send('/sign', { ...bodyOf(id), user }, ada.bearer, strict)).status).toBe(403);
        expect((await send('/sign', bodyOf(id), ada.bearer, strict)).status).toBe(200);
        expect((await send('/amend', { id, user }, ada.bearer, strict)).status).toBe(403);
        expect((await send('/add-note', { id, user, text: 'x' }, ada.bearer, strict)).status).toBe(403);
        expect(await addendaOf(id)).toHaveLength(1);
      } finally {
        await strict.close();
      }
    });
  });

  describe('a caller who is limited to rows', () => {
    let nurse: Person;
    const patient = (id: string): object => ({ patient: { resourceType: 'Patient', id } });

    beforeAll(async () => {
      nurse = await login(app, 'nurse', { policies: [] });
      await app.put('/AccessPolicy/nurse', {
        engine: 'allow',
        link: [{ resourceType: 'User', id: 'nurse' }],
        criteria: ['SDCDocument?patient=Patient/own-p'],
      });
    });

    it('saves, signs and amends own documents', async () => {
      const id = await stored('draft', patient('own-p'));
      const body = bodyOf(id, patient('own-p'));
      for (const [method, params] of [
        ['save', body],
        ['sign', body],
        ['amend', { id }],
        ['sign', body],
      ] as const) {
        expect([method, (await send(`/${method}`, params, nurse.bearer)).status]).toEqual([method, 200]);
      }
      expect((await send('/add-note', { id, user, text: 'x' }, nurse.bearer)).status).toBe(200);
    });

    it('gets the same answer for documents of others as for unknown ones', async () => {
      const [draft, signed] = [
        await stored('draft', patient('other-p')),
        await stored('completed', patient('other-p')),
      ];
      const before = [await read(draft), await read(signed)];
      const calls = (open: string, final: string): readonly (readonly [string, object])[] => [
        ['/save', bodyOf(open, patient('own-p'))],
        ['/sign', bodyOf(open, patient('own-p'))],
        ['/sign', { ...bodyOf(open), 'dry-run': true }],
        ['/amend', { id: final }],
        ['/add-note', { id: final, user, text: 'x' }],
      ];
      for (const [method, params] of [...calls(draft, signed), ...calls('nobody', 'nobody')]) {
        expect([method, await call(method, params, nurse.bearer)]).toEqual([method, notFound]);
      }
      expect([await read(draft), await read(signed)]).toEqual(before);
      expect([await addendaOf(draft), await addendaOf(signed)]).toEqual([[], []]);
    });

    it('cannot move a document out of the granted rows', async () => {
      const id = await stored('draft', patient('own-p'));
      for (const method of ['/save', '/sign']) {
        expect((await send(method, bodyOf(id, patient('other-p')), nurse.bearer)).status).toBe(403);
      }
      expect(await read(id)).toMatchObject({ status: 'draft', ...patient('own-p') });
      expect(await addendaOf(id)).toEqual([]);
    });
  });

  describe(`concurrent calls on two servers, ${ROUNDS} rounds`, () => {
    const server = (index: number): TestApp => (index % 2 === 0 ? app : other);
    const statuses = (answers: readonly Received[], wanted: number): Received[] =>
      answers.filter(({ status }) => status === wanted);

    it(
      'one of 16 signs succeeds, with one snapshot: its own body',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = await stored('in-progress');
          const answers = await Promise.all(
            Array.from({ length: 16 }, (_, index) => send('/sign', bodyOf(id, { index }), undefined, server(index))),
          );
          const [winner] = statuses(answers, 200);
          expect([statuses(answers, 200).length, statuses(answers, 422).length]).toEqual([1, 15]);
          const { document } = winner?.json<{ result: { document: Document } }>().result ?? {};
          const addenda = await addendaOf(id);
          expect(addenda.map(({ snapshot }) => snapshot)).toEqual([document]);
          expect([await read(id), (await versionsOf(id)).total]).toEqual([document, 2]);
        }
      },
      RACE_MILLISECONDS,
    );

    it(
      'one of 16 amends opens the document, and all return it',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = await stored('draft');
          await resultOf('/sign', bodyOf(id, { round }));
          const answers = await Promise.all(
            Array.from({ length: 16 }, (_, index) => send('/amend', { id }, undefined, server(index))),
          );
          expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
          expect((await addendaOf(id)).map(({ status }) => status)).toEqual(['completed', 'in-amendment']);
        }
      },
      RACE_MILLISECONDS,
    );

    it(
      'a save is stored before a sign or refused: the signed body is the stored one',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = await stored('draft');
          const [signed, ...saves] = await Promise.all(
            Array.from({ length: 8 }, (_, index) =>
              send(index === 0 ? '/sign' : '/save', bodyOf(id, { index }), undefined, server(index)),
            ),
          );
          expect(signed?.status).toBe(200);
          expect(saves.filter(({ status }) => ![200, 422].includes(status))).toEqual([]);
          const document = await read(id);
          expect(document).toMatchObject({ status: 'completed', index: 0 });
          expect((await addendaOf(id)).map(({ snapshot }) => snapshot)).toEqual([document]);
        }
      },
      RACE_MILLISECONDS,
    );

    it(
      'a PUT is not lost before or after a sign, and changes no snapshot',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = await stored('draft');
          const [signed, put] = await Promise.all([
            send('/sign', bodyOf(id, { by: 'sign' }), undefined, server(round)),
            other.put(`/SDCDocument/${id}`, { resourceType: 'SDCDocument', status: 'draft', by: 'PUT' }),
          ]);
          expect([signed.status, put.status]).toEqual([200, 200]);
          const { entry } = await versionsOf(id);
          const versions = entry.map(({ resource }) => resource);
          expect(versions.map((version) => version?.meta.versionId)).toEqual(['3', '2', '1']);
          expect(
            versions
              .slice(0, 2)
              .map((version) => version?.by)
              .sort(),
          ).toEqual(['PUT', 'sign']);
          const [history, ...more] = await addendaOf(id);
          expect([more, versions]).toEqual([[], expect.arrayContaining([history?.snapshot])]);
          expect(history?.snapshot).toMatchObject({ status: 'completed', by: 'sign' });
        }
      },
      RACE_MILLISECONDS,
    );

    it(
      'a PUT with If-Match never replaces a signed document',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = await stored('draft');
          const [signed, put] = await Promise.all([
            send('/sign', bodyOf(id, { meta: { versionId: '1' } }), undefined, server(round)),
            other.put(
              `/SDCDocument/${id}`,
              { resourceType: 'SDCDocument', status: 'draft', by: 'PUT' },
              { headers: { 'If-Match': 'W/"1"' } },
            ),
          ]);
          expect([
            [200, 412],
            [422, 200],
          ]).toContainEqual([signed.status, put.status]);
          expect((await versionsOf(id)).total).toBe(2);
        }
      },
      RACE_MILLISECONDS,
    );
  });
});
