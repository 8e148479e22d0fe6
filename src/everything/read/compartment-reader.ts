import { Injectable } from '@nestjs/common';
import { Snapshots, type Snapshot, type SnapshotOptions } from '../../platform/database/snapshots';
import { ServiceError } from '../../platform/errors/service-error';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { type CompartmentQuery } from '../plan/compartment-query';
import { type Entry, ITSELF } from '../plan/entry-rows';
import { firstChunk, type FirstChunkRow } from '../plan/first-chunk';
import { queryPartsOf, presentParameters, type QueryPart } from '../plan/query-parts';
import { CompartmentSlots, type Reading } from './compartment-slots';

export type ReadOptions = Omit<SnapshotOptions, 'refusal'>;

/**
 * A function that yields the parts of a query that have entries. After a timeout, the error names the part yielded
 * last.
 */
export type PartsOf = (query: CompartmentQuery) => Iterable<QueryPart>;

/** The time limit of the first chunk: the allowed time divided by SHARE, but at most MOST_SECONDS. */
const SHARE = 4;
const MOST_SECONDS = 5;

/**
 * Reads patient compartments. A small compartment is read by one statement, as the first chunk; a larger one is read
 * part by part.
 */
@Injectable()
export class CompartmentReader {
  constructor(
    private readonly snapshots: Snapshots,
    private readonly reader: GrantedReader,
    private readonly slots: CompartmentSlots,
  ) {}

  /**
   * Reads all entries that the caller may read, in the order of the answer: the patient first, then by type, the newest
   * first.
   * @returns undefined if the entries do not fit into a first chunk: more than `mostLinks` links, bodies that are too
   * long, or a timeout
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored
   */
  async first(
    query: CompartmentQuery,
    allowedSeconds: number,
    mostLinks: number,
  ): Promise<readonly Entry[] | undefined> {
    const { statement, values } = firstChunk(query, mostLinks);
    const seconds = Math.min(MOST_SECONDS, allowedSeconds / SHARE);
    const rows = await this.snapshots
      .within({ seconds, refusal: tooSlowAtOnce }, (snapshot) => snapshot.run<FirstChunkRow>(statement, values))
      .catch(undefinedIfSlow);
    if (rows === undefined) return undefined;
    const links = rows[0]?.links ?? null;
    if (links === null) return this.refuse(query);
    const entries = rows.filter(({ type }) => type !== null);
    if (links > mostLinks || entries.some(({ body }) => body === null)) return undefined;
    return entries.map(({ type, id, parameters, body }) => ({ type: type ?? '', id, parameters, text: body ?? '' }));
  }

  /**
   * Takes a slot (a permit to read a large compartment), and runs `work` in a snapshot of the database.
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored, 'timeout' with the name of the part
   * that was being read
   */
  async within<T>(
    query: CompartmentQuery,
    options: ReadOptions,
    work: (snapshot: Snapshot, parts: PartsOf, reading: Reading) => Promise<T>,
  ): Promise<T> {
    // The part that a timeout names before any part is read: the first statement searches the links of all parts.
    let at = queryPartsOf(query).find(({ label }) => label !== 'Patient');
    const refusal = (): ServiceError => tooSlow(options.seconds, at);
    const result = await this.slots.run((reading) =>
      this.snapshots.within({ ...options, refusal }, async (snapshot) => {
        const { statement, values } = presentParameters(query);
        const rows = await snapshot.run<{ parameter_id: number }>(statement, values);
        const present = new Set(rows.map(({ parameter_id: id }) => id));
        if (!present.has(ITSELF)) return undefined;
        const parts = function* (of: CompartmentQuery): Generator<QueryPart> {
          for (at of queryPartsOf(of, present)) yield at;
        };
        return { done: await work(snapshot, parts, reading) };
      }),
    );
    return result === undefined ? this.refuse(query) : result.done;
  }

  /** @throws ServiceError in every case, since the patient was not found */
  private async refuse({ patientId, limit }: CompartmentQuery): Promise<never> {
    await this.reader.readWithin(limit, 'Patient', patientId);
    throw new ServiceError('write-conflict', 'The patient was stored at this very moment. Try again.', {
      retryAfterSeconds: 1,
    });
  }
}

const tooSlowAtOnce = (): ServiceError => new ServiceError('everything-timeout', 'The first chunk took too long.');

/**
 * Ignores a timeout of the first chunk. The compartment is then read part by part, and a timeout there can name the
 * part.
 */
function undefinedIfSlow(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.kind === 'timeout')) throw error;
}

function tooSlow(seconds: number, at: QueryPart | undefined): ServiceError {
  const what = `$everything took longer than ${seconds} s; it was at ${at?.label ?? 'the patient'}.`;
  const remedy = 'Ask with a larger _timeout, or for less with _type or _since.';
  const hint =
    at === undefined ? '' : ` The index that helps, if it is missing or broken: create index concurrently ${at.index}.`;
  return new ServiceError('everything-timeout', `${what} ${remedy}${hint}`);
}
