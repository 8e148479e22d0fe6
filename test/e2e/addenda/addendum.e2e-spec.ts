import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Client } from 'pg';
import { type DiffEntry } from '../../../src/addendum/snapshots/snapshot-diff';
import { Addenda } from '../../../src/addendum/store/addenda';
import { applyDiff } from '../../support/apply-diff';
import { type Person, login } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { canonicalText, parseLossless } from '../../support/lossless-text';

interface Addendum {
  readonly id: string;
  readonly type: string;
  readonly date: string;
  readonly snapshot?: object;
  readonly [member: string]: unknown;
}

type Answer =
  { readonly result: Addendum | null } | { readonly result: readonly Addendum[] } | { readonly error: object };

const user = { id: 'doc-1', resourceType: 'User' };
const anyId: unknown = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
const anyDate: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Members that the service adds to every addendum. */
const assigned = {
  resourceType: 'SDCAddendum',
  id: anyId,
  meta: { versionId: '1', lastUpdated: anyDate, createdAt: anyDate },
  date: anyDate,
  user,
  recorder: { resourceType: 'Client', id: 'root' },
};

/** The response to params with one invalid member. */
const invalid = (path: readonly string[], message: unknown): { status: number; body: object } => ({
  status: 422,
  body: { error: { message: 'Invalid params', type: 'rpc-params-invalid', errors: [{ path, message }] } },
});

describe('addendum RPC', () => {
  let app: TestApp;
  let database: Client;
  let documents = 0;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
  });
  afterAll(() => app.close());

  /** Sends a body as text, so that its digits stay as written. */
  async function send(body: string, by?: Person): Promise<{ status: number; text: string }> {
    const { status, text } = await app.post('/rpc', body, by === undefined ? {} : { authorization: by.bearer });
    return { status, text };
  }
  async function call(method: string, params: object, by?: Person): Promise<{ status: number; body: Answer }> {
    const { status, text } = await send(JSON.stringify({ method: `svc.sdc.addendum/${method}`, params }), by);
    return { status, body: JSON.parse(text) as Answer };
  }
  async function resultOf<T = Addendum>(method: string, params: object, by?: Person): Promise<T> {
    const { body } = await call(method, params, by);
    if (!('result' in body)) throw new Error(JSON.stringify(body));
    return body.result as T;
  }
  const addendaOf = (target: object): Promise<readonly Addendum[]> => resultOf('get-addendums', { target });

  async function put(resource: { resourceType: string; id: string; [member: string]: unknown }): Promise<void> {
    expect(await app.put(`/${resource.resourceType}/${resource.id}`, resource)).toMatchObject({ status: 201 });
  }
  async function sdcDocument(status?: string): Promise<{ id: string; resourceType: string }> {
    const target = { id: `doc-${++documents}`, resourceType: 'SDCDocument' };
    await put({ ...target, status });
    return target;
  }
  /** A target that only add-to-history records. */
  const unstored = (): { id: string; resourceType: string } => ({
    id: `body-${++documents}`,
    resourceType: 'SDCDocument',
  });

  async function countOf(table: string): Promise<number> {
    const { rows } = await database.query<{ count: number }>(`select count(*)::integer as count from ${table}`);
    return rows[0]?.count ?? 0;
  }
  async function countStored(): Promise<{ resources: number; entries: number }> {
    return {
      resources: await countOf(`resource where type = 'SDCAddendum'`),
      entries: await countOf('addendum_entry'),
    };
  }

  describe('add-note', () => {
    it('stores a Note and returns the whole resource', async () => {
      const target = await sdcDocument('completed');
      const note = await resultOf('add-note', { target, user, text: 'Seated.\n"Left" arm' });
      expect(note).toEqual({ ...assigned, type: 'svc.sdc.addendum/Note', target, text: 'Seated.\n"Left" arm' });
      expect(await addendaOf(target)).toEqual([note]);
    });

    it('keeps the appointment, and the display of references', async () => {
      const target = { ...(await sdcDocument('amended')), display: 'Vitals' };
      const nurse = { ...user, display: 'Dr. Ada' };
      const appointment = '2025-02-11T09:14:07+01:00';
      expect(await resultOf('add-note', { target, user: nurse, text: 'Come back', appointment, more: 1 })).toEqual({
        ...assigned,
        type: 'svc.sdc.addendum/Note',
        target,
        user: nurse,
        text: 'Come back',
        appointment,
      });
    });

    it('works for workflows', async () => {
      const target = { id: 'flow-1', resourceType: 'SDCWorkflow' };
      await put({ ...target, status: 'completed' });
      expect(await resultOf('add-note', { target, user, text: 'Done' })).toMatchObject({ target });
    });
  });

  describe('add-comment', () => {
    it('stores a Comment and returns the whole resource', async () => {
      const target = await sdcDocument('completed');
      const comment = await resultOf('add-comment', { target, user, text: 'Why?', path: ['loinc-8480-6', 'value'] });
      expect(comment).toEqual({
        ...assigned,
        type: 'svc.sdc.addendum/Comment',
        target,
        text: 'Why?',
        path: ['loinc-8480-6', 'value'],
      });
    });

    it('does not require a path', async () => {
      const target = await sdcDocument();
      expect(await resultOf('add-comment', { target, user, text: 'Hm' })).toEqual({
        ...assigned,
        type: 'svc.sdc.addendum/Comment',
        target,
        text: 'Hm',
      });
    });
  });

  describe('the status of the target (rule 2)', () => {
    const notFinal = ['draft', 'in-progress', 'canceled', 'in-amendment', 'new', 'Completed', undefined];
    const refusal = {
      status: 422,
      body: {
        error: {
          message: 'A Note needs a SDCDocument that is completed or amended; add a Comment instead.',
          type: 'note-on-open-document',
        },
      },
    };

    it.each(notFinal)('%s refuses a Note, but allows a Comment', async (status) => {
      const target = await sdcDocument(status);
      const note = { type: 'svc.sdc.addendum/Note', target, user, text: 'x' };
      expect(await call('add-note', note)).toEqual(refusal);
      expect(await call('create-addendum', { addendum: note })).toEqual(refusal);
      expect(await call('add-comment', { target, user, text: 'x' })).toMatchObject({ status: 200 });
      expect(await addendaOf(target)).toHaveLength(1);
    });

    it('a deleted target that was never signed refuses a Note', async () => {
      const target = await sdcDocument('draft');
      await call('add-comment', { target, user, text: 'x' });
      await app.delete(`/SDCDocument/${target.id}`);
      expect(await call('add-note', { target, user, text: 'x' })).toEqual(refusal);
      expect(await addendaOf(target)).toHaveLength(1);
    });

    it('a target that was never stored allows a Note after its first signed body', async () => {
      const target = { id: 'unstored-note', resourceType: 'SDCDocument' };
      await resultOf('add-to-history', { resource: { ...target, status: 'draft' }, user });
      expect(await call('add-note', { target, user, text: 'x' })).toEqual(refusal);
      await resultOf('add-to-history', { resource: { ...target, status: 'completed' }, user });
      expect(await call('add-note', { target, user, text: 'x' })).toMatchObject({ status: 200 });
    });

    it.each(['completed', 'amended'])('%s allows a Note by both methods', async (status) => {
      const target = await sdcDocument(status);
      const note = { type: 'svc.sdc.addendum/Note', target, user, text: 'x' };
      expect(await call('add-note', note)).toMatchObject({ status: 200 });
      expect(await call('create-addendum', { addendum: note })).toMatchObject({ status: 200 });
    });
  });

  describe('create-addendum (rule 1)', () => {
    it('stores any other type with its open content, digit by digit', async () => {
      const target = await sdcDocument();
      const { status, text } = await send(
        `{"method":"svc.sdc.addendum/create-addendum","params":{"addendum":{"dose":1.10,"target":${JSON.stringify(target)},
          "type":"acme/Handover","user":${JSON.stringify(user)},"deep":{"b":[1e2],"a":12345678901234567890},"date":"1999-01-01"}}}`,
      );
      expect(status).toBe(200);
      expect(text).toContain('"dose":1.10,"deep":{"b":[1e2],"a":12345678901234567890}}');
      const { result } = JSON.parse(text) as { result: Addendum };
      expect(result).toEqual({
        ...assigned,
        type: 'acme/Handover',
        target,
        dose: 1.1,
        deep: { b: [100], a: Number('12345678901234567890') },
      });
      expect(await addendaOf(target)).toEqual([result]);
    });

    it('replaces the recorder, date and version that the caller sent', async () => {
      const target = await sdcDocument();
      const forged = { recorder: { id: 'x' }, date: '1999-01-01', meta: { versionId: '9', lastUpdated: '1999-01-01' } };
      const addendum = { resourceType: 'SDCAddendum', type: 'acme/Forged', target, user, ...forged };
      expect(await resultOf('create-addendum', { addendum })).toEqual({ ...assigned, type: 'acme/Forged', target });
    });

    it('applies the rules of Notes and Comments', async () => {
      const target = await sdcDocument('completed');
      const of = (type: string, more: object): object => ({
        addendum: { type: `svc.sdc.addendum/${type}`, target, user, ...more },
      });
      expect(await call('create-addendum', of('Note', { text: 'x' }))).toMatchObject({ status: 200 });
      expect(await call('create-addendum', of('Comment', { text: 'x', path: ['a'] }))).toMatchObject({ status: 200 });
      expect(await call('create-addendum', of('Note', {}))).toEqual(invalid(['addendum', 'text'], 'text is required'));
      expect(await call('create-addendum', of('Comment', { text: 'x', path: 'a' }))).toMatchObject({ status: 422 });
    });

    it.each(['History', 'Amendment'])('refuses the type %s, which has its own method', async (type) => {
      const target = await sdcDocument('completed');
      const addendum = { type: `svc.sdc.addendum/${type}`, target, user, snapshot: {}, status: 'completed' };
      expect(await call('create-addendum', { addendum })).toEqual(
        invalid(['addendum', 'type'], 'type is written by its own method'),
      );
    });

    const reserved = 'type is reserved for the service. Use a prefix of your own, such as "acme.sdc.addendum/Handover"';
    it.each([
      'svc.sdc.addendum/history',
      'SVC.SDC.ADDENDUM/HISTORY',
      'svc.sdc.addendum/History ',
      ' svc.sdc.addendum/Amendment',
      'svc.sdc.addendum/ History',
      'svc.sdc.addendum//History',
      './svc.sdc.addendum/History',
      'svc.sdc.addendum.History',
      'svc-sdc-addendum:Amendment',
      'svc.sdc.addendum/H1story',
      'svc.sdc.addendum/History/2',
      'svc.sdc.addendum/note',
      'svc.sdc.addendum/Comment ',
      'svc.sdc.addendum/Handover',
      'history',
      ' Amendment ',
      '/History',
    ])('S8.2: refuses the type "%s", which looks like one of the service', async (type) => {
      const target = await sdcDocument('completed');
      const addendum = { type, target, user, text: 'x', snapshot: {}, status: 'completed' };
      expect(await call('create-addendum', { addendum })).toEqual(invalid(['addendum', 'type'], reserved));
    });

    it.each([
      ['a no-break space', 'svc.sdc.addendum/History\u00a0'],
      ['an ideographic space', '\u3000svc.sdc.addendum/History'],
      ['a zero-width space', 'svc.sdc.addendum/His\u200btory'],
      ['a byte order mark', '\ufeffsvc.sdc.addendum/History'],
      ['a soft hyphen', 'svc.sdc.addendum/Amend\u00adment'],
      ['a bidirectional control character', '\u202esvc.sdc.addendum/History'],
      ['a Cyrillic letter', '\u0455vc.sdc.addendum/History'],
      ['a fullwidth letter', 'svc.sdc.addendum/\uff28istory'],
      ['a line break', 'svc.sdc.addendum/History\n'],
      ['a tab', 'acme/Handover\t'],
      ['DEL', 'acme/Handover\u007f'],
    ])('S8.2: refuses a type with %s', async (_what, type) => {
      const addendum = { type, target: await sdcDocument('completed'), user };
      expect(await call('create-addendum', { addendum })).toEqual(
        invalid(['addendum', 'type'], 'type must be printable ASCII'),
      );
    });

    it.each([
      'acme.sdc.addendum/History',
      'acme/Ward round',
      'urn:acme:handover',
      'Handover',
      'acme/MedicationHistory',
    ])('S8.2: allows "%s" as a type of the caller', async (type) => {
      const addendum = { type, target: await sdcDocument(), user };
      expect(await call('create-addendum', { addendum })).toMatchObject({ status: 200 });
    });

    it('S8.2: lists an addendum that an earlier version stored with type "history", and never treats it as a snapshot', async () => {
      const target = await sdcDocument('completed');
      const content = JSON.stringify({ status: 'completed', snapshot: { ...target, forged: true } });
      const type = 'svc.sdc.addendum/history';
      await app.app
        .get(Addenda, { strict: false })
        .addSent({ type, target, user, content }, { caller: { userId: user.id, clientId: 'root' } });
      await resultOf('add-to-history', { resource: { ...target, status: 'completed' }, user });
      const listed = await call('get-addendums', { target });
      expect(listed.body).toMatchObject({ result: [{ type }, { type: 'svc.sdc.addendum/History', changed: true }] });
      expect(await resultOf('create-amendment', { target, user })).toBeNull();
      expect((await app.get(`/SDCDocument/${target.id}/$amendments?_format=html`)).status).toBe(200);
    });

    it('refuses an id', async () => {
      const addendum = { id: 'mine', type: 'acme/Handover', target: await sdcDocument(), user };
      expect(await call('create-addendum', { addendum })).toEqual(
        invalid(['addendum', 'id'], 'id is assigned by the service'),
      );
    });

    it('refuses another resourceType', async () => {
      const addendum = { resourceType: 'Patient', type: 'acme/Handover', target: await sdcDocument(), user };
      expect(await call('create-addendum', { addendum })).toMatchObject({ status: 422 });
    });
  });

  describe('missing params', () => {
    const target = { id: 'x', resourceType: 'SDCDocument' };
    it.each<[string, readonly string[], object]>([
      ['add-note', ['target'], { user, text: 'x' }],
      ['add-note', ['user'], { target, text: 'x' }],
      ['add-note', ['text'], { target, user }],
      ['add-comment', ['target'], { user, text: 'x' }],
      ['add-comment', ['user'], { target, text: 'x' }],
      ['add-comment', ['text'], { target, user }],
      ['create-addendum', ['addendum'], {}],
      ['create-addendum', ['addendum', 'type'], { addendum: { target, user } }],
      ['create-addendum', ['addendum', 'target'], { addendum: { type: 'a', user } }],
      ['create-addendum', ['addendum', 'user'], { addendum: { type: 'a', target } }],
      ['add-to-history', ['resource'], { user }],
      ['add-to-history', ['user'], { resource: { ...target } }],
      ['add-to-history', ['resource', 'id'], { resource: { resourceType: 'SDCDocument' }, user }],
      ['add-to-history', ['resource', 'resourceType'], { resource: { id: 'x' }, user }],
      ['create-amendment', ['target'], { user }],
      ['create-amendment', ['user'], { target }],
      ['get-addendums', ['target'], {}],
      ['get-addendums', ['target', 'resourceType'], { target: { id: 'x' } }],
      ['get-addendums', ['target', 'id'], { target: { resourceType: 'SDCDocument' } }],
    ])('of %s: %j', async (method, path, params) => {
      expect(await call(method, params)).toEqual(invalid(path, `${path.at(-1) ?? ''} is required`));
    });
  });

  describe('wrong params', () => {
    const target = { id: 'x', resourceType: 'SDCDocument' };
    it.each<[string, readonly string[], object]>([
      ['add-note', ['text'], { target, user, text: 1 }],
      ['add-note', ['text'], { target, user, text: '' }],
      ['add-note', ['appointment'], { target, user, text: 'x', appointment: 'soon' }],
      ['add-note', ['appointment'], { target, user, text: 'x', appointment: null }],
      ['add-note', ['target'], { target: 'SDCDocument/x', user, text: 'x' }],
      ['add-note', ['target'], { target: [target], user, text: 'x' }],
      ['add-note', ['target', 'id'], { target: { id: 1, resourceType: 'SDCDocument' }, user, text: 'x' }],
      ['add-note', ['target', 'resourceType'], { target: { id: 'x', resourceType: 'Patient' }, user, text: 'x' }],
      ['add-note', ['user', 'resourceType'], { target, user: { id: 'x', resourceType: 'Patient' }, text: 'x' }],
      ['add-comment', ['path'], { target, user, text: 'x', path: 'a.b' }],
      ['add-comment', ['path'], { target, user, text: 'x', path: [1] }],
      ['add-comment', ['path'], { target, user, text: 'x', path: null }],
      ['create-addendum', ['addendum', 'type'], { addendum: { type: 1, target, user } }],
      ['create-addendum', ['addendum', 'type'], { addendum: { type: '', target, user } }],
      ['add-to-history', ['resource', 'id'], { resource: { id: 'a b', resourceType: 'SDCDocument' }, user }],
      ['add-to-history', ['resource', 'resourceType'], { resource: { id: 'x', resourceType: 'Patient' }, user }],
      ['add-to-history', ['resource', 'status'], { resource: { ...target, status: 1 }, user }],
      ['add-to-history', ['resource'], { resource: [], user }],
      ['create-amendment', ['target', 'resourceType'], { target: { id: 'x', resourceType: 'Patient' }, user }],
      ['get-addendums', ['target', 'id'], { target: { id: '', resourceType: 'SDCDocument' } }],
      ['get-addendums', ['target', 'resourceType'], { target: { id: 'x', resourceType: 'Patient' } }],
    ])('of %s: %j', async (method, path, params) => {
      const { status, body } = await call(method, params);
      expect({ status, body }).toEqual(invalid(path, expect.any(String)));
    });
  });

  describe('a target that is not stored', () => {
    const notFound = { status: 422, text: '{"error":{"message":"Resource not found"}}' };
    const WHICH =
      /^{"error":{"message":"Resource not found","errors":\[{"path":\[.*"target"\],"message":".*SDCDocument.{1,160}"}\]}}$/;
    const targets = ['nobody', 'a b', 'ä', 'x'.repeat(65), 'x'.repeat(100_000), '../Patient', '1\u2028'].map((id) => ({
      id,
      resourceType: 'SDCDocument',
    }));
    const methods = {
      'get-addendums': (target: object) => ({ target }),
      'add-note': (target: object) => ({ target, user, text: 'x' }),
      'add-comment': (target: object) => ({ target, user, text: 'x' }),
      'create-addendum': (target: object) => ({ addendum: { type: 'acme/Handover', target, user } }),
      'create-amendment': (target: object) => ({ target, user }),
    };

    it.each(Object.entries(methods))('is refused by %s, and nothing is stored', async (method, paramsOf) => {
      const before = [await countStored(), await countOf('addendum_target')];
      for (const target of targets) {
        const sent = JSON.stringify({ method: `svc.sdc.addendum/${method}`, params: paramsOf(target) });
        const { status, text } = await send(sent);
        // get-addendums answers exactly as the interface specification says; the other methods also name the target.
        if (method === 'get-addendums') expect({ status, text }).toEqual(notFound);
        else expect({ status, text }).toEqual({ ...notFound, text: expect.stringMatching(WHICH) });
      }
      expect([await countStored(), await countOf('addendum_target')]).toEqual(before);
    });

    it('is refused if a resource with this id has another type', async () => {
      const { id } = await sdcDocument('completed');
      const sent = {
        method: 'svc.sdc.addendum/get-addendums',
        params: { target: { id, resourceType: 'SDCWorkflow' } },
      };
      expect(await send(JSON.stringify(sent))).toEqual(notFound);
    });
  });

  describe('get-addendums (rule 5)', () => {
    it('returns an empty list for a target without addenda', async () => {
      expect(await addendaOf(await sdcDocument('draft'))).toEqual([]);
    });

    it('lists all types in the order of creation, and only those of the target', async () => {
      const target = await sdcDocument('completed');
      await resultOf('add-comment', { target: await sdcDocument(), user, text: 'elsewhere' });
      const added = [
        await resultOf('add-comment', { target, user, text: '1' }),
        await resultOf('add-to-history', { resource: { ...target, status: 'completed' }, user }),
        await resultOf('add-note', { target, user, text: '2' }),
        await resultOf('add-to-history', { resource: { ...target, status: 'amended' }, user }),
        await resultOf('create-amendment', { target, user }),
        await resultOf('create-addendum', { addendum: { type: 'acme/Handover', target, user } }),
      ];
      expect(await addendaOf(target)).toEqual(added);
    });

    it('lists addenda of a deleted target, to which more can be added', async () => {
      const target = await sdcDocument('draft');
      const first = await resultOf('add-comment', { target, user, text: 'before' });
      await app.delete(`/SDCDocument/${target.id}`);
      const second = await resultOf('add-comment', { target, user, text: 'after' });
      expect(await addendaOf(target)).toEqual([first, second]);
    });

    it('does not find a deleted target that never had an addendum', async () => {
      const target = await sdcDocument('draft');
      await app.delete(`/SDCDocument/${target.id}`);
      expect(await call('get-addendums', { target })).toEqual({
        status: 422,
        body: { error: { message: 'Resource not found' } },
      });
    });

    it('does not find a deleted target for which create-amendment stored nothing', async () => {
      const target = await sdcDocument('draft');
      expect(await resultOf('create-amendment', { target, user })).toBeNull();
      await app.delete(`/SDCDocument/${target.id}`);
      expect(await call('add-comment', { target, user, text: 'x' })).toMatchObject({ status: 422 });
    });
  });

  describe('add-to-history (rule 3)', () => {
    async function record(target: object, content: object): Promise<Pick<Addendum, 'status' | 'changed' | 'snapshot'>> {
      const { status, changed, snapshot } = await resultOf('add-to-history', {
        resource: { ...target, ...content },
        user,
      });
      return { status, changed, ...(snapshot === undefined ? {} : { snapshot }) };
    }

    it('returns the whole History, with the body as snapshot', async () => {
      const resource = {
        ...unstored(),
        meta: { versionId: '7' },
        status: 'completed',
        patient: { id: 'p', resourceType: 'Patient' },
      };
      expect(await resultOf('add-to-history', { resource, user })).toEqual({
        ...assigned,
        type: 'svc.sdc.addendum/History',
        target: { id: resource.id, resourceType: resource.resourceType },
        status: 'completed',
        changed: true,
        snapshot: resource,
      });
    });

    it.each(['draft', 'in-progress', 'canceled', 'in-amendment'])(
      'stores no snapshot of a body that is %s',
      async (status) => {
        const target = unstored();
        expect(await record(target, { status, a: 1 })).toEqual({ status, changed: false });
        expect(await addendaOf(target)).toMatchObject([{ status, changed: false }]);
      },
    );

    it('accepts a body without a status', async () => {
      expect(await record(unstored(), {})).toEqual({ changed: false });
    });

    it('compares with the latest snapshot, even if there are other addenda in between', async () => {
      const target = unstored();
      const [completed, amended] = [
        { status: 'completed', a: 1 },
        { status: 'amended', a: 1 },
      ];
      const steps: [object, boolean][] = [
        [completed, true],
        [completed, false],
        [{ status: 'in-amendment', a: 2 }, false],
        [completed, false],
        [amended, true],
        [amended, false],
        [completed, true],
        [{ ...completed, a: 2 }, true],
      ];
      for (const [content, isNew] of steps) {
        expect(await record(target, content)).toEqual({
          status: (content as { status: string }).status,
          changed: isNew,
          ...(isNew ? { snapshot: { ...target, ...content } } : {}),
        });
      }
      expect(await addendaOf(target)).toHaveLength(steps.length);
    });

    /** Records two bodies of one target; returns whether the second counts as changed. */
    async function isChange(first: string, second: string): Promise<boolean> {
      const { id } = unstored();
      const by = JSON.stringify(user);
      const changes: unknown[] = [];
      for (const content of [first, second]) {
        const resource = content.replace('{', `{"id":"${id}","status":"completed","resourceType":"SDCDocument",`);
        const { text } = await send(
          `{"method":"svc.sdc.addendum/add-to-history","params":{"resource":${resource},"user":${by}}}`,
        );
        const { result } = JSON.parse(text) as { result: Addendum };
        expect(result.changed).toBe('snapshot' in result);
        changes.push(result.changed);
      }
      expect(changes[0]).toBe(true);
      return changes[1] === true;
    }

    it.each([
      ['white space', '{"a":[1,{"b":2}]}', '{ "a" : [ 1 , {"b": 2} ] }'],
      ['the order of keys', '{"a":{"x":1,"y":2},"b":3}', '{"b":3,"a":{"y":2,"x":1}}'],
      ['the escape of a character', '{"a":"é/"}', '{"a":"\\u00e9\\/"}'],
      ['meta', '{"a":1,"meta":{"versionId":"1"}}', '{"meta":{"versionId":"2"},"a":1}'],
    ])('ignores a difference in %s', async (_what, first, second) => {
      expect(await isChange(first, second)).toBe(false);
    });

    it.each([
      ['a nested meta', '{"a":{"meta":1}}', '{"a":{"meta":2}}'],
      ['the digits of a number', '{"a":1.0}', '{"a":1.00}'],
      ['digits beyond a double', '{"a":12345678901234567890}', '{"a":12345678901234567891}'],
      ['the order of an array', '{"a":[1,2]}', '{"a":[2,1]}'],
      ['null instead of a missing member', '{"b":1}', '{"b":1,"a":null}'],
      ['a number as string', '{"a":1}', '{"a":"1"}'],
    ])('detects a difference in %s', async (_what, first, second) => {
      expect(await isChange(first, second)).toBe(true);
    });
  });

  describe('create-amendment (rule 4)', () => {
    const record = (target: object, content: object): Promise<Addendum> =>
      resultOf('add-to-history', { resource: { ...target, ...content }, user });

    it('compares the two latest snapshots and returns the whole Amendment', async () => {
      const target = unstored();
      await record(target, { status: 'completed', a: 0 });
      const older = await record(target, { status: 'completed', a: 1, gone: [true] });
      await record(target, { status: 'in-amendment', a: 5 });
      const newer = await record(target, { status: 'amended', a: 2, b: 'x' });
      await record(target, { status: 'amended', a: 2, b: 'x' });
      expect(await resultOf('create-amendment', { target, user })).toEqual({
        ...assigned,
        type: 'svc.sdc.addendum/Amendment',
        target,
        'old-revision': { id: older.id, resourceType: 'SDCAddendum' },
        'new-revision': { id: newer.id, resourceType: 'SDCAddendum' },
        diff: [
          { type: 'replace', path: ['status'], old: 'completed', new: 'amended' },
          { type: 'replace', path: ['a'], old: '1', 'old-kind': 'number', new: '2', 'new-kind': 'number' },
          { type: 'remove', path: ['gone', '0'], old: 'true', 'old-kind': 'boolean' },
          { type: 'add', path: ['b'], new: 'x' },
        ],
      });
    });

    it('keeps every digit from the body through the snapshot to the diff', async () => {
      const target = unstored();
      for (const value of ['1.10', '1.100']) {
        const resource = `{"id":"${target.id}","resourceType":"SDCDocument","status":"completed","dose":{"value":${value}}}`;
        const { text } = await send(
          `{"method":"svc.sdc.addendum/add-to-history","params":{"resource":${resource},"user":${JSON.stringify(user)}}}`,
        );
        expect(text).toContain(`"snapshot":${resource}`);
      }
      const { diff } = await resultOf('create-amendment', { target, user });
      expect(diff).toEqual([
        {
          type: 'replace',
          path: ['dose', 'value'],
          old: '1.10',
          'old-kind': 'number',
          new: '1.100',
          'new-kind': 'number',
        },
      ]);
    });

    it('stores a diff that turns the older snapshot into the newer one', async () => {
      const target = unstored();
      const [older, newer] = [
        { a: [1, { b: {} }], '0': 'x', c: null },
        { a: { '0': 1 }, c: [[]], d: '' },
      ].map((content) => ({
        ...target,
        status: 'completed',
        ...content,
      }));
      await resultOf('add-to-history', { resource: older, user });
      await resultOf('add-to-history', { resource: newer, user });
      const { diff } = await resultOf('create-amendment', { target, user });
      const canonical = (text: string): string => canonicalText(parseLossless(text));
      expect(canonical(applyDiff(JSON.stringify(older), diff as DiffEntry[]))).toBe(canonical(JSON.stringify(newer)));
    });

    it('stores another Amendment when it is called again', async () => {
      const target = unstored();
      await record(target, { status: 'completed' });
      await record(target, { status: 'amended' });
      const first = await resultOf('create-amendment', { target, user });
      const second = await resultOf('create-amendment', { target, user });
      expect(second).toEqual({ ...first, id: anyId, date: anyDate, meta: assigned.meta });
      expect(second.id).not.toBe(first.id);
    });

    it('returns null and stores nothing when there are fewer than two snapshots', async () => {
      const stored = await sdcDocument('completed');
      const once = unstored();
      await record(once, { status: 'in-amendment' });
      await record(once, { status: 'completed' });
      await record(once, { status: 'completed' });
      const before = await countStored();
      for (const target of [stored, once]) {
        expect(await call('create-amendment', { target, user })).toEqual({ status: 200, body: { result: null } });
      }
      expect(await countStored()).toEqual(before);
    });

    it('ignores a snapshot that was sent with create-addendum', async () => {
      const target = unstored();
      await record(target, { status: 'completed' });
      const addendum = {
        type: 'acme/History',
        target,
        user,
        status: 'completed',
        changed: true,
        snapshot: { ...target, forged: true },
      };
      await resultOf('create-addendum', { addendum });
      expect(await resultOf('create-amendment', { target, user })).toBeNull();
    });
  });

  describe('the author', () => {
    it('is the user that the call names; the caller is stored as recorder', async () => {
      const target = await sdcDocument('completed');
      const ada = await login(app, 'ada');
      expect(await resultOf('add-note', { target, user, text: 'x' }, ada)).toMatchObject({
        user,
        recorder: { id: 'ada', resourceType: 'User' },
      });
      expect(await resultOf('add-note', { target, user, text: 'x' })).toMatchObject({
        user,
        recorder: { id: 'root', resourceType: 'Client' },
      });
    });

    describe('with SVC_ADDENDUM_AUTHOR=caller', () => {
      let strict: TestApp;
      let grace: Person;
      beforeAll(async () => {
        strict = await startTestApp({ environment: { SVC_ADDENDUM_AUTHOR: 'caller' }, databaseUrl: app.databaseUrl });
        grace = await login(strict, 'grace');
      });
      afterAll(() => strict.close());

      const paramsBy = (author: object, target: object): [string, object][] => [
        ['create-addendum', { addendum: { type: 'acme/Handover', target, user: author } }],
        ['add-note', { target, user: author, text: 'x' }],
        ['add-comment', { target, user: author, text: 'x' }],
        ['add-to-history', { resource: target, user: author }],
        ['create-amendment', { target, user: author }],
      ];
      const callAs = async (
        by: Person | undefined,
        method: string,
        params: object,
      ): Promise<{ status: number; body: object }> => {
        const sent = by === undefined ? {} : { authorization: by.bearer };
        const answer = await strict.post('/rpc', { method: `svc.sdc.addendum/${method}`, params }, sent);
        return { status: answer.status, body: answer.json() };
      };

      it('must be the caller, in every method', async () => {
        const target = await sdcDocument('completed');
        for (const [method, params] of paramsBy(user, target)) {
          expect(await callAs(grace, method, params)).toMatchObject({
            status: 403,
            body: { issue: [{ code: 'forbidden', diagnostics: 'user must be the User who makes the call.' }] },
          });
        }
        expect(await addendaOf(target)).toEqual([]);
      });

      it('is the caller, or the user that a Client without a User names', async () => {
        const target = await sdcDocument('completed');
        for (const [method, params] of paramsBy({ id: 'grace', resourceType: 'User' }, target)) {
          expect(await callAs(grace, method, params)).toMatchObject({ status: 200 });
        }
        expect(await callAs(undefined, 'add-note', { target, user, text: 'x' })).toMatchObject({ status: 200 });
      });
    });
  });

  describe('a clock', () => {
    it.each<[string, (call: number) => number]>([
      ['that stands still', () => 0],
      ['that runs backwards', (index) => -3_600_000 * index],
    ])('%s changes neither the order nor which two are the latest', async (_what, offset) => {
      const target = unstored();
      let calls = 0;
      const added = await app.atTime(
        () => new Date(Date.UTC(2025, 1, 11) + offset(calls)),
        async () => {
          const addenda: Addendum[] = [];
          for (; calls < 20; calls++) {
            addenda.push(
              await resultOf('add-to-history', { resource: { ...target, status: 'completed', calls }, user }),
            );
            const amendment = await resultOf<Addendum | null>('create-amendment', { target, user });
            const [older, newer] = addenda.filter(({ snapshot }) => snapshot !== undefined).slice(-2);
            expect(amendment?.['old-revision']).toEqual(newer && { id: older?.id, resourceType: 'SDCAddendum' });
            expect(amendment?.['new-revision']).toEqual(newer && { id: newer.id, resourceType: 'SDCAddendum' });
            if (amendment !== null) addenda.push(amendment);
          }
          return addenda;
        },
      );
      expect(added).toHaveLength(39);
      expect(await addendaOf(target)).toEqual(added);
    });

    it('gives the date in UTC with milliseconds', async () => {
      const target = await sdcDocument();
      const { date } = await app.atTime(
        () => new Date('2025-02-11T10:14:07+01:00'),
        () => resultOf('add-comment', { target, user, text: 'x' }),
      );
      expect(date).toBe('2025-02-11T09:14:07.000Z');
    });
  });

  describe('/SDCAddendum', () => {
    it('can be read and searched', async () => {
      const target = await sdcDocument('completed');
      const note = await resultOf('add-note', { target, user, text: 'x' });
      const read = await app.get(`/SDCAddendum/${note.id}`);
      expect([read.status, read.json()]).toEqual([200, note]);
      const queries = [
        `target=SDCDocument/${target.id}`,
        `target:SDCDocument=${target.id}&type=svc.sdc.addendum/Note`,
        `_id=${note.id}&user=User/doc-1`,
      ];
      for (const query of queries) {
        const found = await app.get(`/fhir/SDCAddendum?${query}`);
        expect(found.json()).toMatchObject({ total: 1, entry: [{ resource: note }] });
      }
    });

    it('can be read with _elements, even with a snapshot of the deepest body', async () => {
      const id = 'deepest';
      const body = `{"resourceType":"SDCDocument","id":"${id}","status":"completed","a":${'{"a":'.repeat(63)}1${'}'.repeat(63)}}`;
      expect((await app.put(`/SDCDocument/${id}`, body)).status).toBe(201);
      await app.post('/rpc', { method: 'svc.sdc/amend', params: { id } });
      const { status, text } = await app.get(`/SDCAddendum?target=SDCDocument/${id}&_elements=status`);
      expect([status, text.split('"status":').length - 1]).toEqual([200, 2]);
    });

    it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('refuses %s with 405', async (method) => {
      const target = await sdcDocument('completed');
      const note = await resultOf('add-note', { target, user, text: 'x' });
      for (const root of ['', '/fhir']) {
        const path = method === 'POST' ? '' : `/${note.id}`;
        const body = method === 'DELETE' ? {} : { body: { ...note, text: 'forged' } };
        const { status, headers } = await app.send(method, `${root}/SDCAddendum${path}`, body);
        expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
      expect(await addendaOf(target)).toEqual([note]);
    });
  });

  describe('a call that fails', () => {
    it('stores nothing, even if it fails after the addendum was written', async () => {
      const target = await sdcDocument('completed');
      await database.query(`
        create function fail_for_test() returns trigger language plpgsql as $$ begin raise exception 'disk is full'; end $$;
        create trigger fail_for_test before insert on addendum_entry for each row execute function fail_for_test()`);
      const before = await countStored();
      const { status, body } = await call('add-comment', { target, user, text: 'x' });
      await database.query('drop function fail_for_test cascade');
      expect({ status, body }).toEqual({
        status: 500,
        body: {
          error: { message: expect.stringMatching(/^Internal error\. Name this request id/), type: 'internal-error' },
        },
      });
      expect(await countStored()).toEqual(before);
      expect(await resultOf('add-comment', { target, user, text: 'y' })).toMatchObject({ text: 'y' });
    });

    it('in a batch undoes only its own writes', async () => {
      const target = await sdcDocument('draft');
      const calls = ['add-comment', 'add-note', 'add-comment'].map((method) => ({
        method: `svc.sdc.addendum/${method}`,
        params: { target, user, text: method },
      }));
      const answers = JSON.parse((await send(JSON.stringify(calls))).text) as Answer[];
      expect(answers.map((answer) => Object.keys(answer))).toEqual([['result'], ['error'], ['result']]);
      expect(await addendaOf(target)).toHaveLength(2);
    });

    it('never returns a 5xx, whatever the params are', async () => {
      const target = await sdcDocument('completed');
      const reference = fc.oneof(
        fc.constantFrom<unknown>(target, user, { ...target, status: 'completed' }),
        fc.jsonValue(),
      );
      const params = fc.record(
        {
          target: reference,
          user: reference,
          resource: reference,
          addendum: fc.record({ type: fc.jsonValue(), target: reference, user: reference }),
          text: fc.jsonValue(),
          path: fc.jsonValue(),
        },
        { requiredKeys: [] },
      );
      const method = fc.constantFrom(
        'create-addendum',
        'add-note',
        'add-comment',
        'add-to-history',
        'create-amendment',
        'get-addendums',
      );
      const body = fc
        .tuple(method, fc.oneof(params, fc.jsonValue()))
        .map(([name, sent]) => JSON.stringify({ method: `svc.sdc.addendum/${name}`, params: sent }));
      await fc.assert(
        fc.asyncProperty(fc.array(body, { minLength: 10, maxLength: 10 }), async (bodies) => {
          const answers = await Promise.all(bodies.map((sent) => send(sent)));
          expect(answers.map(({ status }) => status).filter((status) => ![200, 400, 422].includes(status))).toEqual([]);
        }),
        { numRuns: 50 },
      );
      // 500 calls, ten concurrently, take seconds of CPU, and longer on a busy machine.
    }, 90_000);
  });
});
