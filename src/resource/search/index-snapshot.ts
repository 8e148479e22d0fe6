import { type Resource } from '../../fhir/types';
import { type Steps } from '../../platform/time/steps';
import { type Extractors } from './extract/extractor';
import { type SearchParameterSet } from './extract/search-parameter-set';
import { type SearchRows } from './extract/search-rows';

/** The search parameters of one moment, and what they find in a resource. */
export class IndexSnapshot {
  /** @param version counts the changes of live parameters; writes by an older one are refused */
  constructor(
    readonly version: number,
    readonly parameters: SearchParameterSet,
    private readonly extractors: Extractors,
  ) {}

  /** In steps: the resource may be large. */
  rowsOf(type: string, resource: Resource): Steps<SearchRows> {
    return this.extractors.extractorFor(type)(resource);
  }
}
