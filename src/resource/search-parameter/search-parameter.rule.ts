import { Injectable } from '@nestjs/common';
import { type ResourceDraft } from '../../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../hooks/resource-rule';
import { SearchIndex } from '../../search-index/search-index';
import { readDefinition } from './read-definition';

/** Refuses a SearchParameter that cannot be indexed as its definition says. */
@Injectable()
@ForResourceType('SearchParameter')
export class SearchParameterRule implements ResourceRule {
  constructor(private readonly index: SearchIndex) {}

  check({ value, id }: ResourceDraft): void {
    readDefinition({ ...value, ...(id === undefined ? {} : { id }) }, this.index.builtIn);
  }
}
