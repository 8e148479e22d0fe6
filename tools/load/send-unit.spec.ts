import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type LoadEntry, type LoadUnit } from './load-unit';
import { type Failure, sendUnit } from './send-unit';

type Reply = { readonly status: number; readonly body?: object; readonly headers?: Record<string, string> } | 'cut';

const entry = (place: string, isRepeatable = true): LoadEntry => ({
  place,
  resourceType: 'Patient',
  text: JSON.stringify({ place }),
  isRepeatable,
});
const unit = (entries: LoadEntry[], type: LoadUnit['type'] = 'batch'): LoadUnit => ({
  ...{ file: 'f', fileHash: 'h', number: 0, type, entries },
});
const answers = (...statuses: string[]): Reply => ({
  status: 200,
  body: {
    entry: statuses.map((status) => ({ response: { status, outcome: { issue: [{ diagnostics: `is ${status}` }] } } })),
  },
});

describe(sendUnit, () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  /** Sends a unit to a server with these replies; returns the failures, the requests sent, and the pauses. */
  async function send(
    replies: readonly Reply[],
    sent: LoadUnit,
  ): Promise<{ failed: string[]; places: string[][]; waits: number[] }> {
    const left = [...replies];
    const places: string[][] = [];
    const waits: number[] = [];
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const { entry: entries } = JSON.parse(text) as { entry: { place: string }[] };
        places.push(entries.map(({ place }) => place));
        const reply = left.shift() ?? 'cut';
        if (reply === 'cut') response.destroy();
        else response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body ?? {}));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const wait = (seconds: number): Promise<void> => {
      waits.push(seconds);
      return Promise.resolve();
    };
    const failures = await sendUnit({ baseUrl: `http://127.0.0.1:${port}`, authorization: '', wait }, sent);
    const told = ({ entry: { place }, status, reason }: Failure): string => `${place} ${status} ${reason}`;
    return { failed: failures.map(told), places, waits };
  }

  it('is done when every entry is answered with success', async () => {
    const result = await send([answers('201', '200')], unit([entry('a'), entry('b')]));
    expect(result).toEqual({ failed: [], places: [['a', 'b']], waits: [] });
  });

  it('resends only temporarily refused entries, after the pause that the server requests', async () => {
    const busy: Reply = { status: 503, headers: { 'Retry-After': '7' } };
    const result = await send(
      [busy, answers('201', '429', '422'), answers('200')],
      unit([entry('a'), entry('b'), entry('c')]),
    );
    expect(result).toEqual({
      ...{ failed: ['c 422 is 422'], places: [['a', 'b', 'c'], ['a', 'b', 'c'], ['b']], waits: [7, 1] },
    });
  });

  it('repeats an interrupted request if that is harmless', async () => {
    const result = await send(['cut', answers('200')], unit([entry('a')]));
    expect([result.failed, result.places]).toEqual([[], [['a'], ['a']]]);
  });

  it('does not repeat entries that may be stored, and reports that', async () => {
    const result = await send(['cut'], unit([entry('a', false)], 'transaction'));
    expect([result.failed, result.places.length]).toEqual([
      [expect.stringMatching(/^a 0 No answer: .*; whether it was stored is not known$/)],
      1,
    ]);
  });

  it('reports the entry that made a transaction fail', async () => {
    const body = { issue: [{ diagnostics: 'Bundle.entry[1]: no.' }] };
    const result = await send([{ status: 409, body }], unit([entry('a'), entry('b')], 'transaction'));
    expect(result.failed).toEqual(['a 409 not stored, since b was refused', 'b 409 Bundle.entry[1]: no.']);
  });

  it('gives up after some tries', async () => {
    const result = await send(
      Array.from({ length: 8 }, () => ({ status: 503 })),
      unit([entry('a')]),
    );
    expect([result.failed, result.waits]).toEqual([['a 503 no reason given'], [0.5, 1, 2, 4, 8, 16, 32]]);
  });
});
