import { setTimeout as delay } from 'node:timers/promises';
import { type Received } from '../../testing/http-client';
import { type DeliveringServer } from './delivery-bed';

const WRITERS = 4;
const PATIENTS = 6;
/** Pause of each writer after a write, since starting servers need the processor too. */
const PAUSE_MILLISECONDS = 50;

/** Writers that change a few Patients repeatedly until they are stopped, regardless of server failures. */
export class SteadyWriters {
  /** A key such as `Patient/p1/3` for each acknowledged version. */
  readonly acknowledged = new Set<string>();
  /** Number of writes with a response that is no success, or without a response. */
  refused = 0;
  private isOver = false;
  private readonly running: readonly Promise<void>[];

  /**
   * @param server returns the server to write to; called before each write
   */
  constructor(server: () => DeliveringServer) {
    this.running = Array.from({ length: WRITERS }, async (_value, writer) => {
      for (let round = 0; !this.isOver; round++) {
        await this.write(server(), `p${(writer + round) % PATIENTS}`, writer * 100_000 + round);
      }
    });
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }

  private async write(server: DeliveringServer, id: string, value: number): Promise<void> {
    const answer = await server.putPatient(id, value).catch(() => undefined);
    if (answer !== undefined && answer.status < 300) this.acknowledged.add(`Patient/${id}/${versionOf(answer)}`);
    else this.refused++;
    await delay(PAUSE_MILLISECONDS);
  }
}

/** @throws Error without an ETag */
function versionOf({ headers }: Received): string {
  const version = /"(\d+)"/.exec(headers.get('etag') ?? '')?.[1];
  if (version === undefined) throw new Error('A write was answered without a version');
  return version;
}
