import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { RowCriteria } from '../../search/rows/row-criteria';
import { type AccessRequest } from '../request/access-request';
import { type CriteriaTemplate, fillCriterion, sampleSearch } from './criteria-template';

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
   * @returns the filled criteria by their text in the policy
   */
  async of(
    { criteria }: { readonly criteria: readonly CriteriaTemplate[] },
    request: AccessRequest,
  ): Promise<ReadonlyMap<string, string>> {
    const object = await request.read(new Set(criteria.flatMap(({ parts }) => parts)));
    const granting = new Map<string, string>();
    const read = await this.criteria.reader();
    for (const template of criteria) {
      const filled = fillCriterion(template, object);
      if (filled !== undefined && problemOf(() => read(filled)) === undefined) granting.set(template.text, filled);
    }
    return granting;
  }

  /** @throws ServiceError 'unprocessable' for a criterion whose search is invalid with every value */
  async assertSearchable({ type, parameters }: CriteriaTemplate): Promise<void> {
    const read = await this.criteria.reader();
    const problems = [[problemOf(() => read(type))]];
    // Each parameter is checked alone, since a sample that suits one parameter may be invalid for another.
    for (const parameter of parameters) {
      const check = (sample: string): unknown => {
        this.criteria.assertExactDots(parameter.name);
        return read(sampleSearch(type, parameter, sample));
      };
      problems.push(SAMPLES.map((sample) => problemOf(() => check(sample))));
    }
    for (const [problem, ...others] of problems) {
      if (problem === undefined || others.includes(undefined)) continue;
      throw new ServiceError('policy-invalid', `AccessPolicy.criteria on ${type}: ${problem.message}`, {
        expression: 'AccessPolicy.criteria',
      });
    }
  }
}

function problemOf(check: () => unknown): ServiceError | undefined {
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
