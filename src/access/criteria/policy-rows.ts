import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { type ReadCriterion, RowCriteria } from '../../search/rows/row-criteria';
import { type AccessRequest } from '../request/access-request';
import { type CriteriaTemplate, fillCriterion, sampleCriterion } from './criteria-template';

/** What stands in for a value that is not known yet; one of these fits each kind of parameter. */
const SAMPLES = ['x', 'Patient/x', '2020-01-01', '1', 'http://x.example/x', 'true'];

/** Row criteria of policies: are they searches at all, and what are they for one request? */
@Injectable()
export class PolicyRows {
  constructor(private readonly criteria: RowCriteria) {}

  /**
   * The criteria of a policy that grants, filled in. One whose values are missing, or make no search, grants nothing.
   */
  async of(policy: { readonly criteria: readonly CriteriaTemplate[] }, request: AccessRequest): Promise<string[]> {
    const object = await request.read(new Set(policy.criteria.flatMap(({ parts }) => parts)));
    const granted: string[] = [];
    const read = await this.criteria.reader();
    for (const template of policy.criteria) {
      const filled = fillCriterion(template, object);
      if (filled !== undefined && problemOf(filled, read) === undefined) granted.push(filled);
    }
    return granted;
  }

  /** @throws ServiceError 'unprocessable' for a criterion that is no search, whatever its values */
  async assertSearchable(template: CriteriaTemplate): Promise<void> {
    const { type, parameters } = template;
    // Each parameter by itself, since a sample that fits one does not fit another.
    const alone = parameters.map((parameter) => ({ ...template, parameters: [parameter] }));
    for (const one of alone.length === 0 ? [template] : alone) {
      const problem = await this.firstProblemOf(one);
      if (problem === undefined) continue;
      throw new ServiceError('unprocessable', `AccessPolicy.criteria on ${type}: ${problem.message}`, {
        expression: 'AccessPolicy.criteria',
      });
    }
  }

  private async firstProblemOf(template: CriteriaTemplate): Promise<ServiceError | undefined> {
    let first: ServiceError | undefined;
    const read = await this.criteria.reader();
    for (const sample of SAMPLES) {
      const problem = problemOf(sampleCriterion(template, sample), read);
      if (problem === undefined) return undefined;
      first ??= problem;
    }
    return first;
  }
}

function problemOf(criterion: string, read: ReadCriterion): ServiceError | undefined {
  try {
    read(criterion);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // It is a search; where it decides, the request waits for its index.
    return error.kind === 'busy' ? undefined : error;
  }
}
