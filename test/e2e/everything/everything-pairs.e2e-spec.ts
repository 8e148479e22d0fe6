import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, nextOf, storeTogether } from '../../support/bundle';
import { type TestApp, startTestApp } from '../../../testing/test-app';

/** Number of rounds; for a longer run set `RACE_ROUNDS=200`. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const WRITERS = 4;

interface Half {
  readonly resourceType: string;
  readonly id: string;
  /** Value of the pair: one transaction writes both halves, so both always have the same value. */
  readonly language: string;
}

const GENERATIONS = ['en', 'de', 'fr', 'it'];

/** A document and its subject, which are always written together. */
const halvesOf = (pair: string, language: string): [Half, Half] => {
  const subject = { reference: 'Patient/pairs' };
  return [
    { resourceType: 'DiagnosticReport', id: pair, language, status: 'final', code: { text: 'x' }, subject } as Half,
    { resourceType: 'Observation', id: pair, language, status: 'final', code: { text: 'x' }, subject } as Half,
  ];
};

/** The pairs of an answer with a missing half, or with halves of different moments. */
function tornPairsOf(answer: readonly Half[]): Half[][] {
  const pairs = new Map<string, Half[]>();
  for (const half of answer.filter(({ resourceType }) => resourceType !== 'Patient')) {
    pairs.set(half.id, [...(pairs.get(half.id) ?? []), half]);
  }
  return [...pairs.values()].filter(([one, other]) => one?.language !== other?.language);
}

describe('Patient/$everything of two servers', () => {
  let servers: [TestApp, TestApp];

  beforeAll(async () => {
    const first = await startTestApp();
    servers = [first, await startTestApp({ databaseUrl: first.databaseUrl })];
    await first.put('/fhir/Patient/pairs', {});
  });
  afterAll(async () => {
    for (const server of servers.reverse()) await server.close();
  });

  const write = (server: TestApp, pair: string, language: string): Promise<void> =>
    storeTogether(
      server,
      halvesOf(pair, language).map((resource) => ({
        resource,
        request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
      })),
    );
  const remove = (server: TestApp, pair: string): Promise<void> =>
    storeTogether(
      server,
      halvesOf(pair, '').map(({ resourceType, id }) => ({
        request: { method: 'DELETE', url: `${resourceType}/${id}` },
      })),
    );

  /** Writes each pair, writes it again, and deletes every second pair. */
  const keepWriting = async (writer: number): Promise<void> => {
    const server = servers[writer % 2] ?? servers[0];
    for (let round = 0; round < ROUNDS; round++) {
      const pair = `pair-${writer}-${round}`;
      for (const language of GENERATIONS) await write(server, pair, language);
      if (round % 2 === 0) await remove(server, pair);
    }
  };

  /** The ways to read a whole answer; each returns all of its resources. */
  const readings: Readonly<Record<string, (server: TestApp) => Promise<Half[]>>> = {
    Bundle: async (server) => {
      const { entry } = (await server.get('/fhir/Patient/pairs/$everything')).json<Bundle<{ resource: Half }>>();
      return entry.map(({ resource }) => resource);
    },
    'pages from both servers': async (server) => {
      const [first, second] = servers;
      const halves: Half[] = [];
      let next: string | undefined = '/fhir/Patient/pairs/$everything?_count=7';
      for (let reader = server; next !== undefined; reader = reader === first ? second : first) {
        const page = (await reader.get(next)).json<Bundle<{ resource: Half }>>();
        halves.push(...page.entry.map(({ resource }) => resource));
        next = nextOf(page);
      }
      return halves;
    },
    NDJSON: async (server) => {
      const { text } = await server.get('/fhir/Patient/pairs/$everything?_format=ndjson');
      const lines = text.split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Half);
    },
    'NDJSON that is read type by type': async (server) => {
      const { text } = await server.get('/fhir/Patient/pairs/$everything?_format=ndjson&_include=Location');
      const lines = text.split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Half);
    },
  };

  it('returns both resources of a pair or none during writes, in every form', async () => {
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => keepWriting(writer)));
    let isOver = false;
    const whenOver = writing.finally(() => (isOver = true));
    const readAll = async (read: (server: TestApp) => Promise<Half[]>): Promise<Half[][]> => {
      const answers: Half[][] = [];
      while (!isOver) answers.push(...(await Promise.all(servers.map(read))));
      return answers;
    };
    const [, ...answers] = await Promise.all([whenOver, ...Object.values(readings).map(readAll)]);
    for (const [at, form] of Object.keys(readings).entries()) {
      const halves = answers[at] ?? [];
      expect([form, halves.flatMap(tornPairsOf)]).toEqual([form, []]);
      // The answers must differ, which shows that pairs changed between them.
      const moments = halves.map((answer) => answer.map(({ id, language }) => `${id} ${language}`).join());
      expect([form, new Set(moments).size > 3]).toEqual([form, true]);
    }
  }, 60_000);

  it('uses the latest CompartmentDefinition that the other server stored', async () => {
    const path = '/fhir/CompartmentDefinition/patient';
    const [first, second] = servers;
    const bothWays = [
      [first, second],
      [second, first],
    ] as const;
    const definition = (await first.get(path)).json<{ resource: { code: string }[] }>();
    const withoutReports = definition.resource.filter(({ code }) => code !== 'DiagnosticReport');
    await write(first, 'edited', 'en');
    const typesOf = async (server: TestApp): Promise<(string | undefined)[]> => {
      const { entry } = (await server.get('/fhir/Patient/pairs/$everything')).json<Bundle>();
      const found = entry.filter(({ resource }) => resource.id === 'edited');
      return found.map(({ resource }) => resource.resourceType);
    };
    for (let round = 0; round < 5; round++) {
      for (const [here, there] of bothWays) {
        await here.put(path, { ...definition, resource: withoutReports });
        expect(await typesOf(there)).toEqual(['Observation']);
        await here.put(path, definition);
        expect(await typesOf(there)).toEqual(['DiagnosticReport', 'Observation']);
      }
    }
  });
});
