import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { ServiceError } from '../platform/errors/service-error';
import { GrantedReader } from '../resource/rows/granted-reader';
import { type ChartQuery } from './chart-plan';
import { type ChartRow, everythingWithin, isWholeChart } from './everything-statements';

/** One resource of an answer. */
export interface Member {
  readonly type: string;
  readonly id: string;
  readonly text: string;
  /** Ids of the parameters that link it to the patient, 0 for the patient itself, with commas between. */
  readonly parameters: string;
}

/** Reads charts of ordinary size: the patient and the members of its compartment, by one statement. */
@Injectable()
export class ChartReader {
  constructor(
    private readonly statements: Statements,
    private readonly reader: GrantedReader,
  ) {}

  /**
   * The patient first, then by type, the newest first; each as far as the caller may read it.
   * @returns undefined for a chart that is too large to be read at once, or takes its time
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored
   */
  async read(query: ChartQuery, timeoutSeconds: number): Promise<readonly Member[] | undefined> {
    const { patientId, filter } = query;
    const hasPatient = query.types?.has('Patient') ?? true;
    const { statement, values } = everythingWithin(filter, [
      query.patientHash,
      parameterIdsOf(query),
      hasPatient ? patientId : null,
      query.since ?? null,
    ]);
    const rows = await this.soon(timeoutSeconds, () =>
      this.statements.run<ChartRow & Record<string, unknown>>(statement, values),
    );
    if (rows === undefined || !isWholeChart(rows)) return undefined;
    // The patient may be left out; where it is not, it is the first row, and stored.
    const isListed = rows[0]?.type === 'Patient' && rows[0].id === patientId;
    if (!isListed) await this.reader.read('Patient', patientId);
    return rows.flatMap(memberOf);
  }

  /** What takes longer is read type by type instead, which can tell where it is slow. */
  private async soon<T>(timeoutSeconds: number, work: () => Promise<T>): Promise<T | undefined> {
    const seconds = Math.min(MOST_SECONDS, timeoutSeconds / SHARE);
    try {
      return await this.statements.within(new TimeLimit(seconds, ''), work);
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'timeout') return undefined;
      throw error;
    }
  }
}

/** What the one statement may take of the time allowed, and at most. */
const SHARE = 4;
const MOST_SECONDS = 5;

function parameterIdsOf({ compartment, types }: ChartQuery): readonly number[] {
  if (types === undefined) return compartment.parameterIds;
  return [...types].flatMap((type) => compartment.parameterIdsByType.get(type) ?? []);
}

const memberOf = ({ type, id, body, parameters }: ChartRow): Member[] =>
  type === null || body === null ? [] : [{ type, id, text: body, parameters }];
