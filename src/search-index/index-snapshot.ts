import { type Resource } from '../fhir/types';
import { type Steps } from '../platform/time/steps';
import { type Extractors } from './extract/extractor';
import { type SearchParameterSet } from './extract/search-parameter-set';
import { type SearchRows } from './extract/search-rows';

/** The search parameters of one moment, and what they find in a resource. */
export class IndexSnapshot {
  /**
   * @param version counts the changes of parameters; writes by an older one are refused
   * @param isOfThisBuild false when a server with other parameters was started later
   */
  constructor(
    readonly version: number,
    readonly parameters: SearchParameterSet,
    private readonly extractors: Extractors,
    readonly isOfThisBuild: boolean,
  ) {}

  /** In steps: the resource may be large. */
  rowsOf(type: string, resource: Resource, maxPairs?: number): Steps<SearchRows> {
    return this.extractors.extractorFor(type)(resource, maxPairs);
  }
}
