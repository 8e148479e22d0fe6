import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { eventually } from '../../../testing/eventually';
import { ServerProcess, stopLines, stopLinesOf } from '../../support/server-process';
import { encryptionKey, ROOT } from '../../../testing/test-app';

const CLIENTS = 2;
/** The longest start of two processes: 4 s of CPU, on a machine that gives them a fortieth of a core. */
const PATIENCE = 160_000;
/** Pause of a client after each request, since starting processes need the processor too. */
const PAUSE_MILLISECONDS = 10;

let database: ClonedDatabase;
let server: ServerProcess;

beforeAll(async () => {
  database = await cloneDatabase('started');
});
afterAll(async () => {
  await (server as ServerProcess | undefined)?.end('SIGKILL');
  await database.drop();
});

/** Starts a server with two processes, though three are asked for: its connections are enough for two. */
const start = async (): Promise<void> => {
  server = await ServerProcess.start({
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    SVC_ENCRYPTION_KEY: encryptionKey(),
    SVC_PROCESSES: '3',
    SVC_DATABASE_POOL_SIZE: '5',
    SVC_METRICS_PORT: '0',
    SVC_KEEP_ALIVE_SECONDS: '2',
    SVC_SHUTDOWN_SECONDS: '2',
  });
};

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number);

/** Ids of the serving processes. */
const workers = (): number[] => childrenOf(server.pid);

/** Reads repeatedly over kept connections until it is stopped. */
class Load {
  answered = 0;
  readonly failures: string[] = [];
  private isOver = false;
  private readonly clients = Array.from({ length: CLIENTS }, () => this.run());

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async run(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.isOver) {
      const outcome = await statusOf('/fhir/Patient/nobody', agent);
      if (outcome === '404') this.answered++;
      else this.failures.push(outcome);
      await delay(PAUSE_MILLISECONDS);
    }
    agent.destroy();
  }
}

const statusOf = (path: string, agent: Agent): Promise<string> =>
  new Promise((resolve) => {
    request(`${server.url}${path}`, { agent, headers: { Authorization: ROOT } }, (answer) => {
      answer.resume().once('end', () => {
        resolve(String(answer.statusCode));
      });
    })
      .once('error', ({ message }) => {
        resolve(message);
      })
      .end();
  });

async function scrape(): Promise<ReadonlyMap<string, number>> {
  const address = /Metrics on ([\w.:]+\/metrics)/.exec(server.output)?.[1] ?? '';
  const lines = (await (await fetch(`http://${address}`)).text()).split('\n');
  expect(new Set(lines).size).toBe(lines.length);
  return new Map(
    lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => [sampleOf(line), valueOf(line)]),
  );
}
const sampleOf = (line: string): string => line.slice(0, line.lastIndexOf(' '));
const ANSWERS = 'svc_http_answers_total{status="4xx"}';
const DELIVERED = 'svc_topic_destination_messages_delivered_total{destination="quiet"}';
const valueOf = (line: string): number => Number(line.slice(line.lastIndexOf(' ')));

describe('a start with two processes', () => {
  /** The files that Node loads for a file of the server. */
  const loadedBy = (name: string): string[] => {
    const code = `require(${JSON.stringify(join(process.env.TEST_BUILD ?? '', 'src', name))});`;
    const print = `console.log(Object.keys(require.cache).join('\\n'))`;
    return execFileSync(process.execPath, ['-e', `${code} ${print}`], { encoding: 'utf8' }).split('\n');
  };

  it('loads the application only in the processes that serve', () => {
    const loaded = loadedBy('server.js');
    expect(loaded).toContainEqual(expect.stringMatching(/platform.processes.workers\.js$/));
    expect(loaded.find((path) => /src.boot\.js$|node_modules.typeorm/.test(path))).toBeUndefined();
  });

  it('loads the application after the code that prepares the database', () => {
    const loaded = loadedBy('boot.js');
    expect(loaded).toContainEqual(expect.stringMatching(/schema.migrate\.js$/));
    expect(loaded.find((path) => /src.app\.\w+\.js$|node_modules.express/.test(path))).toBeUndefined();
  });

  describe('that serves', () => {
    beforeAll(start, 320_000);

    it('starts fewer of them if the total of connections is too small, and logs that', () => {
      expect(server.output).toContain(
        'Processes: 2 instead of 3, since each needs 2 connections of SVC_DATABASE_POOL_SIZE.',
      );
      expect(workers()).toHaveLength(2);
    });

    it('shares one port and one log, and sums metrics', async () => {
      expect(workers()).toHaveLength(2);
      for (let n = 0; n < 20; n++) await statusOf('/fhir/Patient/nobody', new Agent());
      await eventually('all answers are counted', async () => (await scrape()).get(ANSWERS) === 20);
      const metrics = await scrape();
      expect(metrics.get('svc_processes')).toBe(2);
      expect(metrics.get('svc_database_pool_size')).toBe(4);
      expect(metrics.get('svc_topic_destinations')).toBe(0);
      expect(metrics.get('svc_metrics_source_up{source="destinations"}')).toBe(1);
      const status = await (
        await fetch(`${server.url}/fhir/$server-status`, { headers: { Authorization: ROOT } })
      ).text();
      expect(status).toContain('{"name":"processes","valueDecimal":2}');
      expect(status).toContain(
        '"requests","part":[{"name":"count","valueDecimal":20},{"name":"refused","valueDecimal":20}',
      );
    }, 320_000);

    it('replaces a killed process, logs that, keeps its counts, and counts the database only once', async () => {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query(`insert into destination_runtime
          (destination_id, max_messages_in_batch, timeout_seconds, kind, presentation, sealed_settings, delivered_events)
        values ('quiet', 1, 1, 'webhook-at-least-once', '', '', 3)`);
      await client.end();
      const [killed = 0, other = 0] = workers();
      const counted = (await scrape()).get(ANSWERS) ?? 0;
      for (let n = 0; n < 20; n++) await statusOf('/fhir/Patient/nobody', new Agent());
      await eventually('all answers are counted', async () => (await scrape()).get(ANSWERS) === counted + 20);
      process.kill(killed, 'SIGKILL');
      await eventually('it is replaced', async () => (await scrape()).get('svc_processes') === 2, PATIENCE);
      expect(server.output).toContain(`Process ${killed} ended by itself (SIGKILL) and is replaced`);
      expect([workers().includes(killed), workers().includes(other)]).toEqual([false, true]);
      const after = await scrape();
      expect([after.get(ANSWERS), after.get(DELIVERED)]).toEqual([counted + 20, 3]);
    }, 320_000);

    it('O2: replaces its processes at SIGHUP, without a failed request', async () => {
      const before = workers();
      const load = new Load();
      server.signal('SIGHUP');
      await eventually(
        'both are replaced',
        () => server.output.match(/Process \d+ was replaced by \d+/g)?.length === 2,
        PATIENCE,
      );
      const answered = load.answered;
      await eventually('the new ones answer', () => load.answered > answered + 20);
      await load.stop();
      expect(load.failures).toEqual([]);
      expect(workers().filter((pid) => before.includes(pid))).toEqual([]);
      expect(workers()).toHaveLength(2);
    }, 320_000);

    it('stops at one signal with exit code 0, and logs the begin and the end of the stop once', async () => {
      expect(await server.end('SIGTERM')).toBe(0);
      expect(stopLinesOf(server.output)).toEqual(stopLines(2));
    });
  });

  /** Starts a server, and does not wait until it listens. */
  const boot = (): { readonly child: ChildProcess; readonly output: () => string } => {
    const child = spawn(process.execPath, [join(process.env.TEST_BUILD ?? '', 'src', 'main.js')], {
      env: {
        ...{ PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: database.url },
        ...{ SVC_ENCRYPTION_KEY: encryptionKey(), SVC_PROCESSES: '2' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output };
  };

  it('O2: ends all processes without a log message if the first one is killed while they boot', async () => {
    const { child, output } = boot();
    const closed = once(child, 'close'); // the worker has the same streams, so this is its end
    const pid = child.pid ?? 0;
    await eventually('a process boots', () => childrenOf(pid).length > 0, PATIENCE);
    child.kill('SIGKILL');
    await closed;
    expect(output()).toBe('');
  }, 320_000);

  it('O2: restarts the second process if it ends while it boots, and the first one keeps serving', async () => {
    const { child, output } = boot();
    const closed = once(child, 'close');
    const pid = child.pid ?? 0;
    await eventually('the second process boots', () => childrenOf(pid).length === 2, PATIENCE);
    const [serving = 0, booting = 0] = childrenOf(pid);
    process.kill(booting, 'SIGKILL');
    await eventually('the start ends', () => output().includes('Listening on') || child.exitCode !== null, PATIENCE);
    expect(child.exitCode).toBeNull();
    expect(childrenOf(pid)).toContain(serving);
    expect(output()).toContain('A new process ended before it listened (SIGKILL): it is started again');
    await eventually('another process boots', () => childrenOf(pid).length === 2, PATIENCE);
    child.kill('SIGTERM');
    await closed;
    expect(child.exitCode).toBe(0);
  }, 320_000);
});
