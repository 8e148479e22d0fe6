import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

/** The number of notes on one document. One statement cannot read them all. */
const NOTES = 230;
const METHOD = 'svc.sdc.addendum/get-addendums';

interface Listed {
  readonly id: string;
  readonly text: string;
}

describe('lists of addenda', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'off' } });
    database = await app.connect();
  });
  afterAll(() => app.close());

  /** A signed document with this many notes. */
  async function noted(id: string, notes: number): Promise<{ readonly id: string; readonly resourceType: string }> {
    const target = { id, resourceType: 'SDCDocument' };
    await app.put(`/SDCDocument/${id}`, { ...target, status: 'completed' });
    for (let n = 0; n < notes; n += 50) {
      const calls = Array.from({ length: Math.min(50, notes - n) }, (_, place) => ({
        method: 'svc.sdc.addendum/add-note',
        params: { target, user: { id: 'doc-1', resourceType: 'User' }, text: `${n + place}` },
      }));
      expect((await app.post('/rpc', calls)).text).not.toContain('error');
    }
    return target;
  }

  const ask = (body: unknown): Promise<Response> =>
    fetch(`${app.url}/rpc`, {
      method: 'POST',
      headers: { authorization: ROOT, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('that are long arrive in chunks and in order, as one list', async () => {
    const target = await noted('long', NOTES);
    const answer = await ask({ method: METHOD, params: { target } });
    expect(answer.headers.get('content-length')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { result } = (await answer.json()) as { readonly result: readonly Listed[] };
    expect(result.map(({ text }) => text)).toEqual(Array.from({ length: NOTES }, (_, n) => `${n}`));
    const [batched] = (await (await ask([{ method: METHOD, params: { target } }])).json()) as { result: Listed[] }[];
    expect(batched?.result).toEqual(result);
    expect(await (await ask({ method: 'svc.sdc/get-workflow-addendums', params: { id: 'long' } })).json()).toEqual({
      error: { message: 'Resource not found', errors: [{ path: ['id'], message: expect.stringContaining('long') }] },
    });
  });

  it('that are short arrive as a whole, with Content-Length', async () => {
    const target = await noted('short', 3);
    const answer = await ask({ method: METHOD, params: { target } });
    expect(answer.headers.get('content-length')).toBe(String((await answer.clone().text()).length));
    expect(((await answer.json()) as { result: Listed[] }).result).toHaveLength(3);
  });

  it('that lack an addendum close the connection, so that they never look complete', async () => {
    const target = await noted('damaged', NOTES);
    const place = [target.id, NOTES - 5];
    await database.query(
      `delete from resource where type = 'SDCAddendum' and id = (select addendum_id from addendum_entry where target_id = $1 and sequence = $2)`,
      place,
    );
    const answer = await ask({ method: METHOD, params: { target } });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
    const { status, text } = await app.post('/rpc', [{ method: METHOD, params: { target } }]);
    expect([status, text]).toEqual([200, expect.stringMatching(/^\[\{"error":\{.*"type":"addendum-missing"\}\}\]$/)]);
  });

  describe('of any length', () => {
    const call = { method: METHOD, params: { target: { id: 'huge', resourceType: 'SDCDocument' } } };
    const echo = { method: 'svc/echo', params: { still: 'here' } };

    beforeAll(async () => {
      await noted('huge', 4);
      // No call can store such long notes, so SQL lengthens them: together they have 80 MB.
      await database.query(
        `update resource set body = replace(body, '"text":"', '"text":"' || repeat('x', 20000000))
         where type = 'SDCAddendum' and id in (select addendum_id from addendum_entry where target_id = 'huge')`,
      );
    });

    it.each([
      ['alone', call],
      ['among other calls', [call, echo]],
    ])('S11: are answered in chunks, %s', async (_, body) => {
      let size = 0;
      let end = '';
      for await (const chunk of (await ask(body)).body ?? []) {
        size += (chunk as Uint8Array).byteLength;
        end = Buffer.from(chunk as Uint8Array).toString('utf8');
      }
      expect(size).toBeGreaterThan(80_000_000);
      expect(end).toMatch(Array.isArray(body) ? /,\{"result":\{"still":"here"\}\}\]$/ : /\]\}$/);
    });

    it('S11: are read no further after the client disconnected', async () => {
      const leaving = new AbortController();
      const answer = await fetch(`${app.url}/rpc`, {
        method: 'POST',
        headers: { authorization: ROOT, 'content-type': 'application/json' },
        body: JSON.stringify(Array(50).fill(call)),
        signal: leaving.signal,
      });
      expect(answer.status).toBe(200);
      leaving.abort();
      await delay(1_000);
      const { rows } = await database.query<{ now: string }>('select now()::text as now');
      await delay(1_500);
      const { rows: later } = await database.query(
        `select query from pg_stat_activity where datname = current_database() and query like '%addendum_entry%' and query_start > $1
         and pid <> pg_backend_pid()`,
        [rows[0]?.now],
      );
      expect(later).toEqual([]);
    });
  });
});
