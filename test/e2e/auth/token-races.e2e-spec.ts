import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Number of rounds; for a longer run set `RACE_ROUNDS=1000`. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const TIMEOUT_MILLISECONDS = 30_000 + ROUNDS * 2000;
const USES = 16;

describe(`races on two servers, ${ROUNDS} rounds`, () => {
  let servers: [TestApp, TestApp];
  const credentials = { client_id: 'machine', client_secret: 'secret' };

  beforeAll(async () => {
    const first = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on' } });
    servers = [first, await startTestApp({ databaseUrl: first.databaseUrl })];
    const settings = { client_credentials: { refresh_token: true } };
    await first.put('/Client/machine', { secret: 'secret', grant_types: ['client_credentials'], auth: settings });
  });
  afterAll(async () => {
    const [first, second] = servers;
    await second.close();
    await first.close();
  });

  const server = (index: number): TestApp => (index % 2 === 0 ? servers[0] : servers[1]);
  const ask = (index: number, parameters: object): Promise<Received> =>
    server(index).post('/auth/token', { ...credentials, ...parameters }, { authorization: null });
  const open = async (): Promise<Tokens> => {
    const answer = await ask(0, { grant_type: 'client_credentials' });
    expect(answer.status).toBe(200);
    return answer.json<Tokens>();
  };
  const refresh = (index: number, { refresh_token: token }: Tokens): Promise<Received> =>
    ask(index, { grant_type: 'refresh_token', refresh_token: token });
  const close = (index: number, { access_token: token }: Tokens): Promise<Received> =>
    server(index).delete('/Session', { authorization: `Bearer ${token}` });
  const statusOf = async (index: number, { access_token: token }: Tokens): Promise<number> =>
    (await server(index).get('/Session?_count=1', { authorization: `Bearer ${token}` })).status;
  const isDead = async (tokens: Tokens): Promise<boolean> =>
    (await statusOf(0, tokens)) === 401 && (await statusOf(1, tokens)) === 401;

  it(
    `let one of ${USES} concurrent refreshes succeed, and its tokens work`,
    async () => {
      let tokens = await open();
      for (let round = 0; round < ROUNDS; round++) {
        const presented = tokens;
        const answers = await Promise.all(Array.from({ length: USES }, (_, index) => refresh(index, presented)));
        const won = answers.filter(({ status }) => status === 200).map((answer) => answer.json<Tokens>());
        const refused = answers.filter(({ status }) => status === 400);
        expect({ round, won: won.length, refused: refused.length }).toEqual({ round, won: 1, refused: USES - 1 });
        const [winner] = won;
        if (winner === undefined) throw new Error('nobody won');
        expect([await statusOf(round, winner), await isDead(presented)]).toEqual([200, true]);
        tokens = winner;
      }
    },
    TIMEOUT_MILLISECONDS,
  );

  it(
    'leave no working token when a close completes during a refresh',
    async () => {
      const seen = { refreshedFirst: 0, closedFirst: 0, tooLate: 0 };
      for (let round = 0; round < ROUNDS; round++) {
        const tokens = await open();
        // A close is faster than a refresh. So it starts after 0 to 7 other requests, by round: over the rounds, it
        // meets the refresh at each of its steps.
        const closeLater = async (): Promise<Received> => {
          for (let step = 0; step < round % 8; step++) await server(round + 1).get('/health');
          return close(round + 1, tokens);
        };
        const [refreshed, closed] = await Promise.all([refresh(round, tokens), closeLater()]);
        expect([200, 400]).toContain(refreshed.status);
        expect([200, 401]).toContain(closed.status);
        expect(await isDead(tokens)).toBe(true);
        const wasRefreshed = refreshed.status === 200;
        // 401: the refresh had already ended, so the token of the close was dead, and the close closed nothing.
        if (closed.status === 401) {
          expect(wasRefreshed).toBe(true);
          seen.tooLate++;
          continue;
        }
        seen[wasRefreshed ? 'refreshedFirst' : 'closedFirst']++;
        const next = wasRefreshed ? refreshed.json<Tokens>() : tokens;
        expect([await isDead(next), (await refresh(round, next)).status]).toEqual([true, 400]);
      }
      expect(seen.refreshedFirst + seen.closedFirst + seen.tooLate).toBe(ROUNDS);
      if (ROUNDS >= 100) process.stdout.write(`refresh and close: ${JSON.stringify(seen)}\n`);
    },
    TIMEOUT_MILLISECONDS,
  );

  it(
    'refuse every request that begins after a completed close',
    async () => {
      let [checked, asked] = [0, 0];
      const begin = performance.now();
      for (let round = 0; round < ROUNDS; round++) {
        const tokens = await open();
        let closedAt = Infinity;
        let isOver = false;
        const late: number[] = [];
        const load = Array.from({ length: 8 }, async (_, index) => {
          while (!isOver) {
            const isLate = performance.now() > closedAt;
            const status = await statusOf(index, tokens);
            asked++;
            if (isLate) late.push(status);
          }
        });
        await statusOf(round, tokens);
        expect((await close(round, tokens)).status).toBe(200);
        closedAt = performance.now();
        while (late.length < 16) await statusOf(round + 1, tokens);
        isOver = true;
        await Promise.all(load);
        expect(new Set(late)).toEqual(new Set([401]));
        checked += late.length;
      }
      const perSecond = Math.round((asked * 1000) / (performance.now() - begin));
      const figures = `requests after a close: ${checked}, accepted: 0, at ${perSecond} requests a second\n`;
      if (ROUNDS >= 100) process.stdout.write(figures);
    },
    TIMEOUT_MILLISECONDS,
  );

  it(
    'close a family once when its used token is sent many times concurrently',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const first = await open();
        const next = (await refresh(round, first)).json<Tokens>();
        expect(await statusOf(round, next)).toBe(200);
        const answers = await Promise.all([
          ...Array.from({ length: 4 }, (_, index) => refresh(index, first)),
          refresh(round, next),
        ]);
        const renewed = answers.at(-1);
        expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
        expect(answers.slice(0, -1).map(({ status }) => status)).toEqual([400, 400, 400, 400]);
        if (renewed?.status === 200) expect(await isDead(renewed.json<Tokens>())).toBe(true);
        expect(await isDead(next)).toBe(true);
      }
    },
    TIMEOUT_MILLISECONDS,
  );
});
