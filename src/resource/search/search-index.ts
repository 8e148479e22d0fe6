import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { Environment } from '../../platform/config/environment';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ResourceTypes } from '../resource-types';
import { Extractors } from './extract/extractor';
import { targetHashOf } from './extract/hash';
import { SearchParameterSet } from './extract/search-parameter-set';
import { IndexSnapshot } from './index-snapshot';
import { type LiveSet, LiveSearchParameters } from './live/live-search-parameters.repository';

/** The search parameters of this server and what they find in a resource. */
@Injectable()
export class SearchIndex implements OnApplicationBootstrap {
  private readonly cached: CachedRegistry<IndexSnapshot>;
  private madeBuiltIn: SearchParameterSet | undefined;
  private made: { readonly set: LiveSet; readonly snapshot: IndexSnapshot } | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly environment: Environment,
    private readonly live: LiveSearchParameters,
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
  ) {
    this.cached = new CachedRegistry(epoch, unitOfWork, () => this.load());
  }

  /** Builds the set at start, so that a collision of parameters stops the boot and no request pays for it. */
  async onApplicationBootstrap(): Promise<void> {
    await this.cached.get();
  }

  /** The parameters of HL7 and of modules, which never change. */
  get builtIn(): SearchParameterSet {
    if (this.madeBuiltIn === undefined) {
      const own = this.types.own();
      this.madeBuiltIn = new SearchParameterSet(
        own.flatMap(({ type, searchParameters = [] }) => searchParameters.map((parameter) => ({ type, ...parameter }))),
        own.map(({ type }) => type),
      );
    }
    return this.madeBuiltIn;
  }

  /** What is in force for this request: for everything that reads. */
  current(): Promise<IndexSnapshot> {
    return this.cached.get();
  }

  /** What this process knows: a write by it fails with a conflict when it is outdated. */
  async forWrite(): Promise<IndexSnapshot> {
    return this.cached.newest ?? this.cached.get();
  }

  /** What this process knows turned out to be outdated. */
  forget(): void {
    this.cached.forget();
  }

  /** The parameters that this process knows, perhaps not those of a change that was answered a moment ago. */
  get parameters(): SearchParameterSet {
    return this.cached.newest?.parameters ?? this.builtIn;
  }

  /** The number that links to `type/id` are found by. */
  referenceHash(type: string, id: string): number {
    return targetHashOf(localKey(type, id));
  }

  /** The epoch moves for other reasons too: as long as the live parameters are the same, so is the snapshot. */
  private async load(): Promise<IndexSnapshot> {
    const set = await this.live.load();
    if (this.made?.set.signature !== set.signature) {
      const parameters = this.builtIn.withLive(set.parameters);
      const extractors = new Extractors(parameters, this.environment.baseUrl);
      this.made = { set, snapshot: new IndexSnapshot(set.version, parameters, extractors) };
    }
    return this.made.snapshot;
  }
}
