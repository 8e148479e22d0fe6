import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';

/** Ends a transaction that found no fault. */
class DryRunEnd extends Error {}

/** The transactions of calls that may be dry runs: all is checked and written as in earnest, and then undone. */
@Injectable()
export class Rehearsal {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async run<T>(isDryRun: boolean, work: () => Promise<T>): Promise<T> {
    if (!isDryRun) return this.unitOfWork.run(work);
    let found: { readonly result: T } | undefined;
    try {
      return await this.unitOfWork.run(async () => {
        found = { result: await work() };
        throw new DryRunEnd();
      });
    } catch (error) {
      if (error instanceof DryRunEnd && found !== undefined) return found.result;
      throw error;
    }
  }
}
