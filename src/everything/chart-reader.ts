import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { type Compartment } from '../resource/compartment/compartments';
import { GrantedReader } from '../resource/rows/granted-reader';
import { SearchIndex } from '../resource/search/search-index';
import { type ChartRow, everythingWithin, isWholeChart } from './everything-statements';
import { type EverythingRequest } from './everything-request';
import { type MemberFilter } from './member-filter';

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
    private readonly index: SearchIndex,
  ) {}

  /**
   * The patient first, then by type, the newest first; each as far as the caller may read it.
   * @returns undefined for a chart that is too large to be read at once
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored, 'timeout' after `timeoutSeconds`.
   */
  async read(
    patientId: string,
    compartment: Compartment,
    request: EverythingRequest,
    filter: MemberFilter,
  ): Promise<readonly Member[] | undefined> {
    const { since, types, timeoutSeconds } = request;
    const hasPatient = types?.has('Patient') ?? true;
    const values = [
      this.index.referenceHash('Patient', patientId),
      parameterIdsOf(compartment, types),
      hasPatient ? patientId : null,
      since ?? null,
    ];
    const { statement, values: bound } = everythingWithin(filter, values, filter.limit?.types ?? []);
    const message = `$everything took longer than ${timeoutSeconds} s. Ask with a larger _timeout, or for less with _since or _type.`;
    const rows = await this.statements.within(new TimeLimit(timeoutSeconds, message), () =>
      this.statements.run<ChartRow & Record<string, unknown>>(statement, bound),
    );
    if (!isWholeChart(rows)) return undefined;
    // The patient may be left out; where it is not, it is the first row, and stored.
    const isListed = rows[0]?.type === 'Patient' && rows[0].id === patientId;
    if (!isListed) await this.reader.read('Patient', patientId);
    return rows.flatMap(memberOf);
  }
}

function parameterIdsOf(compartment: Compartment, types: ReadonlySet<string> | undefined): readonly number[] {
  if (types === undefined) return compartment.parameterIds;
  return [...types].flatMap((type) => compartment.parameterIdsByType.get(type) ?? []);
}

const memberOf = ({ type, id, body, parameters }: ChartRow): Member[] =>
  type === null || body === null ? [] : [{ type, id, text: body, parameters }];
