import { Agent, request } from 'node:http';
import { type BenchRequest, type Target } from '../bench-case';
import { type Answer, judgeAnswer } from './judge-answer';
import { type LoadData } from './load-data';
import { type Body } from './written-resources';

/** The numbers of writers and readers. Each sends one request after another. */
export const WRITERS = 4;
export const READERS = 4;
/** Maximum number of faults that the report shows. */
const MOST_FAULTS = 20;

export interface Callers {
  readonly open: Target;
  /** A caller whose policy grants only the Observations that match its criteria. */
  readonly limited: Target;
}

/** Results of writers and readers. `writes` and `reads` are milliseconds, of the answered requests to compare. */
export class Work {
  readonly writes: number[] = [];
  readonly reads: number[] = [];
  readonly faults: string[] = [];
  seconds = 0;
  wrong = 0;
  warned = 0;
  refused = 0;
  refusedWrites = 0;
  failedWrites = 0;

  fault(text: string): void {
    this.wrong += 1;
    if (this.faults.length < MOST_FAULTS) this.faults.push(text);
  }
}

/**
 * Reads, searches and writes until `end`. Each Observation has one writer, so that its versions have a known order in
 * time.
 */
export async function workUntil(callers: Callers, data: LoadData, end: Promise<unknown>): Promise<Work> {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS + READERS });
  const work = new Work();
  const startedAt = performance.now();
  let isOver = false;
  const write = async (own: readonly Body[]): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const stored = own[n % own.length];
      if (stored === undefined) throw new RangeError('There is nothing to change');
      const body = data.nextOf(stored);
      const sentAt = performance.now();
      const isStored = data.written.write(body, sentAt);
      const path = `/Observation/${body.id}`;
      const { status } = await send(agent, callers.open, { method: 'PUT', path, body: JSON.stringify(body) });
      const answeredAt = performance.now();
      if (status === 200) {
        isStored(answeredAt);
        work.writes.push(answeredAt - sentAt);
      } else if (status === 503) work.refusedWrites += 1;
      else work.failedWrites += 1;
    }
  };
  const read = async (): Promise<void> => {
    while (!isOver) for (const question of data.questions()) await ask(question);
  };
  const ask = async (question: ReturnType<LoadData['questions']>[number]): Promise<void> => {
    const { path, isLimited, isTimed, name } = question;
    const from = performance.now();
    const answer = await send(agent, isLimited ? callers.limited : callers.open, { method: 'GET', path });
    const to = performance.now();
    const verdict = judgeAnswer(data.written, question, { from, to }, answer);
    if (typeof verdict === 'object') work.fault(`${name}: ${verdict.fault}`);
    else if (verdict === 'refused') work.refused += 1;
    else if (isTimed) work.reads.push(to - from);
    if (verdict === 'warned') work.warned += 1;
  };
  const loops = [
    ...Array.from({ length: WRITERS }, (_, n) => write(data.changed.filter((_body, at) => at % WRITERS === n))),
    ...Array.from({ length: READERS }, read),
  ];
  try {
    await Promise.race([end, Promise.all(loops)]);
  } finally {
    isOver = true;
    await Promise.all(loops);
    agent.destroy();
  }
  work.seconds = (performance.now() - startedAt) / 1_000;
  return work;
}

/** Sends a request. The status is 0 when no response arrived. */
export function send(agent: Agent | undefined, target: Target, { method, path, body }: BenchRequest): Promise<Answer> {
  const headers = {
    ...{ Authorization: target.authorization, Accept: 'application/fhir+json' },
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/fhir+json', 'Content-Length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve) => {
    const fail = (): void => {
      resolve({ status: 0, text: '' });
    };
    request(target.baseUrl + path, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        })
        .on('error', fail);
    })
      .on('error', fail)
      .end(body);
  });
}
