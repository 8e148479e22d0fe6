import { Injectable } from '@nestjs/common';
import { type Subset, subsetOf } from '../fhir/subset/subset';
import { type Held } from '../platform/admission/slots';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { RequestContext } from '../platform/request/request-context';
import { Slices } from '../platform/time/slices';
import { ResourceReader } from './resource-reader';

/** A version in a list. Its text may be read later, since all texts together may not fit into memory. */
export interface ListedVersion {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** Length of the text; undefined for a deletion, which has none. */
  readonly bytes: number | undefined;
  readonly text: string | undefined;
}

/** Maximum number of bytes of texts that the statement of a list returns together with the list. */
const EARLY_BYTES = 256 * 1024;

/**
 * Bytes of texts that are read and printed at once; the text that exceeds them is still included. A batch must fill a
 * chunk of the answer, or it waits in memory. With 256 kB instead, the pages of two hundred slow readers took 400 MB
 * more.
 */
const AT_ONCE = 64 * 1024;

const READING_SECONDS = 30;

/** Maximum number of bytes of texts in a page. A longer page ends early, and its `next` link leads to the rest. */
const MOST_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * SQL of the columns `bytes` and `body` of `alias`; after EARLY_BYTES, `body` is null.
 * @param order `order by …` of the rows; empty if they are already in order
 */
export const earlyBody = (alias: string, order: string): string => `octet_length(${alias}.body) as bytes,
  case when sum(octet_length(${alias}.body)) over (${order} rows unbounded preceding) <= ${EARLY_BYTES} then ${alias}.body end as body`;

/** The first rows that fit into a page; at least one. */
export function fittingRows<Row extends { readonly bytes: number | null }>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => (bytes += row.bytes ?? 0) > MOST_PAGE_BYTES && index > 0);
  return end < 0 ? rows : rows.slice(0, end);
}

@Injectable()
export class LateTexts {
  constructor(
    private readonly reader: ResourceReader,
    private readonly statements: Statements,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
  ) {}

  /**
   * Prints a list with its texts in batches, each of which is read after the one before was sent. This generator keeps
   * no variable for texts, which would stay in memory while the answer waits. `print` must not keep the list that it
   * gets, because that list is emptied.
   * @throws ServiceError 'busy' before the first batch if the memory budget is full
   */
  async *printed<Listed extends ListedVersion>(
    listed: readonly Listed[],
    print: (some: readonly Listed[]) => string[] | Promise<string[]>,
  ): AsyncGenerator<string[], void, void> {
    const batches = [...batchesOf(listed)];
    this.hold(listed, batches);
    for (const batch of batches) yield this.printedBatch(batch, print);
  }

  /**
   * Reads and prints one batch, then empties the list of its texts. V8 moves promises and frames that wait for a slot
   * to its old generation, where all that they refer to stays in memory until a full garbage collection, even if
   * unused. The pages of two hundred slow readers had 450 MB of such garbage.
   */
  private async printedBatch<Listed extends ListedVersion>(
    batch: readonly Listed[],
    print: (some: readonly Listed[]) => string[] | Promise<string[]>,
  ): Promise<string[]> {
    // Versions whose rows an operator deleted since the list was read have no text.
    const whole = (await this.whole(batch)).filter((one) => !isLate(one));
    const texts = await print(whole);
    whole.length = 0;
    return texts;
  }

  /**
   * Returns a list with all of its texts; only for short lists.
   * @param isBrief whether the texts are dropped before the request reads others, so that their memory is not reserved
   *   until its end
   */
  async all<Listed extends ListedVersion>(listed: readonly Listed[], isBrief = false): Promise<readonly Listed[]> {
    const batches = [...batchesOf(listed)];
    const held = this.hold(listed, batches);
    const whole: (readonly Listed[])[] = [];
    for (const batch of batches) whole.push(await this.whole(batch));
    if (isBrief) held?.release();
    return whole.flat();
  }

  /** Returns the versions with the requested part of each text, or with the whole text if no part is requested. */
  async partsOf<Listed extends ListedVersion>(
    listed: readonly Listed[],
    subset: Subset | 'count' | undefined,
  ): Promise<readonly Listed[]> {
    if (subset === undefined || subset === 'count') return listed;
    const parts: Listed[] = [];
    for (const one of listed)
      parts.push(one.text === undefined ? one : { ...one, text: await this.slices.run(subsetOf(one.text, subset)) });
    return parts;
  }

  /** Reserves memory for the texts that came with the list and for the largest later batch. */
  private hold(listed: readonly ListedVersion[], batches: readonly (readonly ListedVersion[])[]): Held | undefined {
    const bytesOf = (some: readonly ListedVersion[]): number => some.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
    const early = bytesOf(listed.filter(({ text }) => text !== undefined));
    const late = Math.max(0, ...batches.filter(([first]) => isLate(first)).map(bytesOf));
    return early + late > AT_ONCE ? this.requests.ticket.hold(early + late) : undefined;
  }

  private async whole<Listed extends ListedVersion>(batch: readonly Listed[]): Promise<Listed[]> {
    if (!isLate(batch[0])) return [...batch];
    // Reads queue fairly by caller, so that the pages of one caller cannot take every connection.
    const limit = new TimeLimit(READING_SECONDS, 'The texts of the list took too long to read.', true);
    const found = await this.statements.within(limit, () => this.reader.findVersions(batch));
    const texts = new Map(found.splice(0).map((one) => [versionKeyOf(one), one.text]));
    return batch.map((one) => ({ ...one, text: texts.get(versionKeyOf(one)) }));
  }
}

const versionKeyOf = ({ type, id, version }: Pick<ListedVersion, 'type' | 'id' | 'version'>): string =>
  `${type}/${id}/${version}`;

type Sized = Pick<Partial<ListedVersion>, 'bytes' | 'text'>;

const isLate = (one: Sized | undefined): boolean => one?.text === undefined && one?.bytes !== undefined;

/** Splits a list into batches that are read and printed at once. */
export function* batchesOf<Listed extends Sized>(listed: readonly Listed[]): Generator<readonly Listed[], void, void> {
  let batch: Listed[] = [];
  let bytes = 0;
  for (const one of listed) {
    const isOther = isLate(one) !== isLate(batch[0]);
    if (batch.length > 0 && (isOther || bytes >= AT_ONCE)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(one);
    bytes += one.bytes ?? 0;
  }
  if (batch.length > 0) yield batch;
}
