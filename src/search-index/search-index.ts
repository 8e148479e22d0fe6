import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { localKey } from '../fhir/reference';
import { Environment } from '../platform/config/environment';
import { CachedRegistry, RegistryEpoch } from '../platform/database/registry-epoch';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { Clock } from '../platform/time/clock';
import { ResourceTypes } from '../model/resource-types';
import { Extractors } from './extract/extractor';
import { RowHashes } from './extract/row-hashes';
import { SearchParameterSet } from './extract/search-parameter-set';
import { definitionsDigest } from './extract/parameter-digest';
import { KnownProgress } from './states/known-progress';
import { type ParametersInForce, ParameterStates } from './states/parameter-states.repository';

/** The search parameters at one moment, with their extractors. */
export interface IndexSnapshot {
  /** Increases with each change of parameters; writes with an older version are refused. */
  readonly version: number;
  readonly parameters: SearchParameterSet;
  readonly extractors: Extractors;
  /** False if a server with other parameters was started later. */
  readonly isOfThisBuild: boolean;
}

/** Compiled stored parameters, kept while indexes are built. */
interface Compiled {
  readonly signature: string;
  readonly parameters: SearchParameterSet;
  readonly extractors: Extractors;
}

/** The search parameters of this server and their extractors. */
@Injectable()
export class SearchIndex implements OnModuleInit, OnApplicationBootstrap {
  private readonly cached: CachedRegistry<IndexSnapshot>;
  private readonly progress: KnownProgress;
  private declared: SearchParameterSet | undefined;
  private digest: string | undefined;
  private compiled: Compiled | undefined;
  private made: { readonly set: ParametersInForce; readonly snapshot: IndexSnapshot } | undefined;

  constructor(
    readonly hashes: RowHashes,
    private readonly types: ResourceTypes,
    private readonly environment: Environment,
    private readonly states: ParameterStates,
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    clock: Clock,
  ) {
    this.cached = new CachedRegistry(epoch, unitOfWork, () => this.load());
    this.progress = new KnownProgress(() => states.listUnfinished(), clock);
  }

  /**
   * Before any write, notes which indexes must be built for the parameters of this build.
   * @throws StartError if two parameters collide
   */
  async onModuleInit(): Promise<void> {
    await Promise.resolve(); // types are known once the registries of the module are filled
    const own = this.types.own();
    const parameters = own.flatMap(({ type, searchParameters = [] }) =>
      searchParameters.map((parameter) => ({ type, ...parameter })),
    );
    const ownTypes = own.map(({ type }) => type);
    const declared = new SearchParameterSet(parameters, ownTypes);
    this.digest = definitionsDigest(parameters, ownTypes);
    this.declared = declared.withBits(await this.states.compare(declared, this.digest));
  }

  /** Loads early, so that the first request is not slowed down. */
  async onApplicationBootstrap(): Promise<void> {
    await this.cached.get();
  }

  /** The parameters of HL7 and of modules; immutable. */
  get builtIn(): SearchParameterSet {
    if (this.declared === undefined) throw new Error('The search parameters are not compared yet.');
    return this.declared;
  }

  /** The current parameters, for all reads. */
  async current(): Promise<IndexSnapshot> {
    const snapshot = await this.cached.get();
    if (snapshot.parameters.hasUnfinished) await this.progress.refresh();
    return snapshot;
  }

  /**
   * The cached parameters. A write with outdated ones fails with a conflict.
   * @throws ServiceError 'busy' if a server of another build has taken over the index
   */
  async forWrite(): Promise<IndexSnapshot> {
    const snapshot = this.cached.newest ?? (await this.cached.get());
    if (snapshot.isOfThisBuild) return snapshot;
    throw new ServiceError(
      'busy',
      'A server with other search parameters has been started on this database. This one writes nothing any more: stop it.',
      { code: 'release-outdated', retryAfterSeconds: 10 },
    );
  }

  /** Drops the cached parameters of this process. */
  forget(): void {
    this.cached.forget();
  }

  /** The cached parameters of this process; a very recent change may be missing. */
  get parameters(): SearchParameterSet {
    return this.cached.newest?.parameters ?? this.builtIn;
  }

  /** The hash that links to `type/id` are found by. */
  referenceHash(type: string, id: string): number {
    return this.hashes.ofTarget(localKey(type, id));
  }

  /** The epoch also changes for other reasons: the snapshot stays the same if parameters and states do. */
  private async load(): Promise<IndexSnapshot> {
    const set = await this.states.load();
    if (this.made?.set.signature !== set.signature) {
      const { parameters: all, extractors } = this.compiledOf(set);
      const { version, unfinished: ids, definitions } = set;
      const parameters = all.withUnfinished({ ids, progressOf: (type, code) => this.progress.of(type, code) });
      this.made = { set, snapshot: { version, parameters, extractors, isOfThisBuild: definitions === this.digest } };
    }
    return this.made.snapshot;
  }

  private compiledOf({ live, liveSignature: signature }: ParametersInForce): Compiled {
    if (this.compiled?.signature === signature) return this.compiled;
    const parameters = this.builtIn.withLive(live);
    const extractors = new Extractors(parameters, this.hashes, this.environment.baseUrl);
    return (this.compiled = { signature, parameters, extractors });
  }
}
