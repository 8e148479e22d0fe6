import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { ResourceTypes } from '../resource-types';
import { Extractors } from './extract/extractor';
import { targetHashOf } from './extract/hash';
import { SearchParameterSet } from './extract/search-parameter-set';
import { type SearchRows } from './extract/search-rows';

/** The search parameters of this server and what they find in a resource. */
@Injectable()
export class SearchIndex implements OnApplicationBootstrap {
  private built: { readonly parameters: SearchParameterSet; readonly extractors: Extractors } | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly environment: Environment,
  ) {}

  /** Builds the set at start, so that a collision of parameters stops the boot and no request pays for it. */
  onApplicationBootstrap(): void {
    this.build();
  }

  get parameters(): SearchParameterSet {
    return this.build().parameters;
  }

  rowsOf(type: string, resource: Resource): SearchRows {
    return this.build().extractors.extractorFor(type)(resource);
  }

  /** The number that links to `type/id` are found by. */
  referenceHash(type: string, id: string): number {
    return targetHashOf(localKey(type, id));
  }

  private build(): { readonly parameters: SearchParameterSet; readonly extractors: Extractors } {
    if (this.built === undefined) {
      const own = this.types.own();
      const parameters = new SearchParameterSet(
        own.flatMap(({ type, searchParameters = [] }) => searchParameters.map((parameter) => ({ type, ...parameter }))),
        own.map(({ type }) => type),
      );
      this.built = { parameters, extractors: new Extractors(parameters, this.environment.baseUrl) };
    }
    return this.built;
  }
}
