import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { type ReadCriterion, RowCriteria } from '../../search/rows/row-criteria';
import { type AccessRequest } from '../request/access-request';
import { type CriteriaTemplate, fillCriterion, sampleCriterion } from './criteria-template';

/**
 * Values for placeholders when a policy is checked at its write. For each kind of search parameter, one of them is a
 * valid value.
 */
const SAMPLES = ['x', 'Patient/x', '2020-01-01', '1', 'http://x.example/x', 'true'];

/**
 * Validates the row criteria of policies (searches that limit a grant to some resources), and fills them in for a
 * request.
 */
@Injectable()
export class PolicyRows {
  constructor(private readonly criteria: RowCriteria) {}

  /**
   * Fills in the criteria of a policy whose other conditions are met. A criterion with a missing value, or whose search
   * is invalid, is left out: it grants nothing.
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

  /** @throws ServiceError 'unprocessable' for a criterion whose search is invalid with every value */
  async assertSearchable(template: CriteriaTemplate): Promise<void> {
    const { type, parameters } = template;
    // Each parameter is checked alone, since a sample that suits one parameter may be invalid for another.
    const alone = parameters.map((parameter) => ({ ...template, parameters: [parameter] }));
    for (const one of alone.length === 0 ? [template] : alone) {
      const problem = (await this.firstProblemOf(one)) ?? this.similarityIn(one);
      if (problem === undefined) continue;
      throw new ServiceError('policy-invalid', `AccessPolicy.criteria on ${type}: ${problem.message}`, {
        expression: 'AccessPolicy.criteria',
      });
    }
  }

  private similarityIn({ parameters }: CriteriaTemplate): ServiceError | undefined {
    return errorOf(() => {
      for (const { name } of parameters) this.criteria.assertExactDots(name);
    });
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

const problemOf = (criterion: string, read: ReadCriterion): ServiceError | undefined => errorOf(() => read(criterion));

function errorOf(check: () => unknown): ServiceError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // 'busy' means that the search is valid, but its index is still being built. A request that uses the criterion
    // waits for the index.
    return error.kind === 'busy' ? undefined : error;
  }
}
