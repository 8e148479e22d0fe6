import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { Clock } from '../../platform/time/clock';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { SearchIndex } from '../../search-index/search-index';
import { type SearchScope } from './search-scope';

/** A scope without the searched type. */
export type OpenScope = Omit<SearchScope, 'type'> & { readonly incomplete: Set<SearchParameter> };

/** Makes the scopes of searches. They collect the parameters whose index is incomplete. */
@Injectable()
export class SearchScopes {
  constructor(
    private readonly index: SearchIndex,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  async current(isLenient = false): Promise<OpenScope> {
    return this.by((await this.index.current()).parameters, isLenient);
  }

  by(parameters: SearchParameterSet, isLenient = false): OpenScope {
    return {
      parameters,
      hashes: this.index.hashes,
      incomplete: new Set(),
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient,
    };
  }
}
