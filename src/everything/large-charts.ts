import { Injectable } from '@nestjs/common';
import { Snapshots, type Snapshot, type SnapshotOptions } from '../platform/database/snapshots';
import { type Statement } from '../platform/database/statement';
import { ServiceError } from '../platform/errors/service-error';
import { Binder } from '../resource/search/compile/binder';
import { GrantedReader } from '../resource/rows/granted-reader';
import { type Member } from './chart-reader';
import { type ChartQuery, orderedRows, type Portion, portionsOf } from './chart-plan';
import { ChartSlots } from './chart-slots';
import { seenTest } from './member-filter';
import { type MemberPrinter } from './member-printer';

/** Parameters that link anything at all: one look at an index each, where a semi join might read every link. */
const PRESENT: Statement = {
  name: 'everything-present-parameters',
  text: `select p.parameter_id from unnest($2::integer[]) p(parameter_id)
    cross join lateral (select from reference_link l where l.target_hash = $1 and l.parameter_id = p.parameter_id limit 1) l`,
};

const OF_KEY = `cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c`;

/** $1 keys. */
const BODIES: Statement = {
  name: 'everything-bodies',
  text: `select c.body from unnest($1::bigint[]) with ordinality k(resource_key, place) ${OF_KEY} order by k.place`,
};

/**
 * $1 keys, $2 and $3 what stands before and after each body, $4 what stands between. One text is much less work for this process
 * than as many texts as there are members, most of all for its garbage collector.
 */
const JOINED: Statement = {
  name: 'everything-joined-bodies',
  text: `select string_agg(concat(k.before, c.body, k.after), $4::text order by k.place) as text
    from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality k(resource_key, before, after, place) ${OF_KEY}`,
};

/** Rows of members that are fetched at once, and the bytes of bodies that are in memory at once, but for a single larger one. */
const ROWS_AT_ONCE = 2_000;
const BYTES_AT_ONCE = 64 * 1024;

/** Without names, since what they yield depends on the cursor. */
const fetchFrom = (cursor: string, count: number): Statement => ({ name: '', text: `fetch ${count} from ${cursor}` });
const closed = (cursor: string): Statement => ({ name: '', text: `close ${cursor}` });

interface RowOfMember {
  readonly resource_key: number;
  readonly type: string;
  readonly id: string;
  readonly bytes: number;
  readonly parameters: string;
  readonly [column: string]: unknown;
}

export type ChartOptions = Omit<SnapshotOptions, 'refusal'>;

/** Walks through charts of any size in one snapshot, type by type, in constant memory. */
@Injectable()
export class LargeCharts {
  constructor(
    private readonly snapshots: Snapshots,
    private readonly reader: GrantedReader,
    private readonly slots: ChartSlots,
  ) {}

  /**
   * Shows `visit` each portion, in the order of the answer; `finish` sees the same moment.
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored, 'timeout' naming the type that it was at
   */
  async visit(
    query: ChartQuery,
    options: ChartOptions,
    visit: (snapshot: Snapshot, portion: Portion) => Promise<void>,
    finish?: (snapshot: Snapshot) => Promise<void>,
  ): Promise<void> {
    const planned = portionsOf(query);
    // What is looked for first is what links to the patient.
    let at = planned.find(({ isPatient }) => !isPatient) ?? planned[0];
    const refusal = (): ServiceError => tooSlow(options.seconds, at);
    const isStored = await this.slots.within(options.signal, () =>
      this.snapshots.within({ ...options, refusal }, async (snapshot) => {
        if (!(await isPatientSeen(snapshot, query))) return false;
        const rows = await snapshot.run<{ parameter_id: number }>(PRESENT, [
          query.patientHash,
          query.compartment.parameterIds,
        ]);
        for (const portion of portionsOf(query, new Set(rows.map(({ parameter_id: id }) => id)))) {
          at = portion;
          await visit(snapshot, portion);
        }
        await finish?.(snapshot);
        return true;
      }),
    );
    if (isStored) return;
    await this.reader.read('Patient', query.patientId);
    throw new ServiceError('busy', 'The patient was stored at this very moment. Try again.', { retryAfterSeconds: 1 });
  }

  /**
   * Hands the text of all resources to `take`, a few at a time, in the order of the answer. The time limit is for finding
   * them: `take` sees the first text when all are found, and after it nothing but the database or the reader ends the answer.
   */
  async read(
    query: ChartQuery,
    options: ChartOptions,
    printer: MemberPrinter,
    take: (text: string, count: number, mode: Portion['mode']) => Promise<void>,
  ): Promise<void> {
    const found: FoundPortion[] = [];
    await this.visit(
      query,
      options,
      async (snapshot, portion) => {
        const cursor = `chart_${found.length}`;
        const { statement, values } = orderedRows(portion, (text) => `declare ${cursor} no scroll cursor for ${text}`);
        await snapshot.run({ ...statement, name: '' }, values);
        // The rows come sorted, so PostgreSQL has found and keeps all of them when it returns the first.
        const first = await snapshot.run<RowOfMember>(fetchFrom(cursor, 1), []);
        if (first.length > 0) found.push({ cursor, mode: portion.mode, first });
        else await snapshot.run(closed(cursor), []);
      },
      async (snapshot) => {
        await snapshot.liftLimit();
        for (const portion of found) await readPortion(snapshot, portion, printer, take);
      },
    );
  }
}

/** Members of a portion, kept by PostgreSQL behind a cursor; the first of them was fetched. */
interface FoundPortion {
  readonly cursor: string;
  readonly mode: Portion['mode'];
  readonly first: readonly RowOfMember[];
}

async function readPortion(
  snapshot: Snapshot,
  { cursor, mode, first }: FoundPortion,
  printer: MemberPrinter,
  take: (text: string, count: number, mode: Portion['mode']) => Promise<void>,
): Promise<void> {
  let rows = first;
  for (let isOver = false; !isOver;) {
    const more = await snapshot.run<RowOfMember>(fetchFrom(cursor, ROWS_AT_ONCE), []);
    isOver = more.length < ROWS_AT_ONCE;
    for (const batch of batchesOf([...rows, ...more]))
      await take(await textOf(snapshot, batch, mode, printer), batch.length, mode);
    rows = [];
  }
  await snapshot.run(closed(cursor), []);
}

async function textOf(
  snapshot: Snapshot,
  batch: readonly RowOfMember[],
  mode: Portion['mode'],
  printer: MemberPrinter,
): Promise<string> {
  const keys = batch.map(({ resource_key: key }) => key);
  const around = batch.flatMap((row) => {
    const texts = printer.around(row, mode);
    return texts === undefined ? [] : [texts];
  });
  if (around.length === batch.length) {
    const [before, after] = [around.map(([text]) => text), around.map(([, text]) => text)];
    const joined = await snapshot.run<{ text: string }>(JOINED, [keys, before, after, printer.between]);
    return joined[0]?.text ?? '';
  }
  const bodies = await snapshot.run<{ body: string }>(BODIES, [keys]);
  const members = batch.map(({ type, id, parameters }, place): Member => ({
    type,
    id,
    parameters,
    text: bodies[place]?.body ?? '',
  }));
  return printer.printAll(members, mode);
}

async function isPatientSeen(snapshot: Snapshot, { patientId, filter }: ChartQuery): Promise<boolean> {
  const bind = new Binder();
  const { statement, values } = bind.finish(
    `select true as found from resource c where c.type = 'Patient' and c.id = ${bind.value(patientId)} and ${seenTest(filter, ['Patient'], bind)}`,
  );
  return (await snapshot.run<{ found: boolean }>(statement, values)).length > 0;
}

/** Divides rows so that the bodies of each part together are small, unless a single one is large. */
export function* batchesOf<Row extends { readonly bytes: number }>(rows: readonly Row[]): Generator<readonly Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (batch.length > 0 && bytes + row.bytes > BYTES_AT_ONCE) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += row.bytes;
  }
  if (batch.length > 0) yield batch;
}

function tooSlow(seconds: number, at: Portion | undefined): ServiceError {
  const what = `$everything took longer than ${seconds} s; it was at ${at?.label ?? 'the patient'}.`;
  const remedy = 'Ask with a larger _timeout, or for less with _type or _since.';
  const hint =
    at === undefined ? '' : ` The index that helps, if it is missing or broken: create index concurrently ${at.index}.`;
  return new ServiceError('timeout', `${what} ${remedy}${hint}`);
}
