import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { GrantedReader } from '../resource/rows/granted-reader';
import { RowLimits } from '../resource/rows/row-limits';
import { SearchIndex } from '../resource/search/search-index';
import { type TextRow, resourceTextOf } from '../resource/store/resource-row';
import { type ResourceText } from '../resource/stored-resource';
import { PATIENT_EVERYTHING, everythingWithin } from './everything-statements';
import { type EverythingRequest } from './everything-request';

/** Reads the patient and the members of its compartment in one snapshot. */
@Injectable()
export class CompartmentMembers {
  constructor(
    private readonly statements: Statements,
    private readonly reader: GrantedReader,
    private readonly limits: RowLimits,
    private readonly index: SearchIndex,
  ) {}

  /**
   * The patient first, then by type, the newest first; each as far as the caller may read it.
   * @throws ServiceError 'not-found' or 'gone' for a patient that is not stored, 'timeout' after `timeoutSeconds`.
   */
  async read(
    patientId: string,
    parameterIds: readonly number[],
    { since, timeoutSeconds }: EverythingRequest,
  ): Promise<ResourceText[]> {
    const values = [this.index.referenceHash('Patient', patientId), parameterIds, patientId, since ?? null];
    const limit = await this.limits.current();
    const { statement, values: bound } =
      limit === undefined ? { statement: PATIENT_EVERYTHING, values } : everythingWithin(limit, values);
    const message = `$everything took longer than ${timeoutSeconds} s. Ask with a larger _timeout, or for less with _since.`;
    const rows = await this.statements.within(new TimeLimit(timeoutSeconds, message), () =>
      this.statements.run<TextRow>(statement, bound),
    );
    // With _since the patient may be left out; without it a stored patient is always the first row.
    const isListed = rows[0]?.type === 'Patient' && rows[0].id === patientId;
    if (!isListed) await this.reader.read('Patient', patientId);
    return rows.map(resourceTextOf);
  }
}
