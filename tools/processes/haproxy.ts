import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const START_SECONDS = 5;

/** HAProxy in front of servers, with its default checks: one every 2 s; three failures remove a server. */
export class HaProxy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly statisticsPort: number,
  ) {}

  /** @throws Error with one sentence if the program is missing, or refuses its configuration */
  static async start(
    folder: string,
    ports: readonly number[],
    [port, statisticsPort]: [number, number],
  ): Promise<HaProxy> {
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configurationOf(ports, port, statisticsPort));
    const child = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
    const failed = once(child, 'error').then(() => {
      throw new Error('This needs the program haproxy (Debian: apt-get install haproxy).');
    });
    const proxy = new HaProxy(child, port, statisticsPort);
    await Promise.race([failed, proxy.answers()]);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until all servers receive requests. */
  async allUp(seconds = 60): Promise<void> {
    const endsAt = performance.now() + seconds * 1000;
    while (performance.now() < endsAt) {
      const rows = (await this.statistics()).split('\n').filter((row) => row.startsWith('servers,server'));
      if (rows.length > 0 && rows.every((row) => row.split(',')[STATUS] === 'UP')) return;
      await delay(200);
    }
    throw new Error('HAProxy does not see all servers up');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }

  private async answers(): Promise<void> {
    const endsAt = performance.now() + START_SECONDS * 1000;
    for (;;) {
      const answer = await this.statistics().catch(() => undefined);
      if (answer !== undefined) return;
      if (performance.now() > endsAt) throw new Error('HAProxy does not answer');
      await delay(50);
    }
  }

  private async statistics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.statisticsPort}/;csv`)).text();
  }
}

/** The column of the status in HAProxy's CSV: https://docs.haproxy.org/2.6/management.html#9.1 */
const STATUS = 17;

const configurationOf = (ports: readonly number[], port: number, statisticsPort: number): string => `
global
  maxconn 1000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:${port}
  default_backend servers
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
backend servers
  option httpchk GET /health/ready
${ports.map((one, index) => `  server server${index + 1} 127.0.0.1:${one} check`).join('\n')}
`;
