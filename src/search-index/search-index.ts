import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { localKey } from '../fhir/reference';
import { Environment } from '../platform/config/environment';
import { handlerNameOf } from '../platform/discovery/handler-calls';
import { CachedRegistry, RegistryEpoch } from '../platform/database/registry-epoch';
import { ServiceError } from '../platform/errors/service-error';
import { StartError } from '../platform/errors/start-error';
import { Clock } from '../platform/time/clock';
import { ResourceTypes } from '../model/resource-types';
import { type ExtractorOf, extractorsBy } from './extract/extractor';
import { RowHashes } from './extract/row-hashes';
import { CODE_RULE, PARAMETER_CODE } from './extract/search-parameter';
import { type KnownIndexProgress, SearchParameterSet } from './extract/search-parameter-set';
import { definitionsDigest } from './extract/parameter-digest';
import { KnownProgress } from './states/known-progress';
import { ParameterStates } from './states/parameter-states.repository';

/** The search parameters at one moment, with their extractors. */
export interface IndexSnapshot {
  /** Number of the parameter set. It increases with each change of parameters; writes with an older set are refused. */
  readonly version: number;
  readonly parameters: SearchParameterSet;
  readonly extractorOf: ExtractorOf;
  /** Whether the server that was last started on the database (maybe this one) has the parameters of this server. */
  readonly isOfThisBuild: boolean;
}

/** The search parameters of this server and their extractors. */
@Injectable()
export class SearchIndex implements OnModuleInit, OnApplicationBootstrap {
  private readonly cached: CachedRegistry<IndexSnapshot>;
  private readonly progress: KnownProgress;
  private declared: SearchParameterSet | undefined;
  private digest: string | undefined;
  private loaded: { readonly signature: string; readonly snapshot: IndexSnapshot } | undefined;

  constructor(
    readonly hashes: RowHashes,
    private readonly types: ResourceTypes,
    private readonly environment: Environment,
    private readonly states: ParameterStates,
    epoch: RegistryEpoch,
    clock: Clock,
  ) {
    this.cached = new CachedRegistry(epoch, () => this.load());
    this.progress = new KnownProgress(() => states.listUnfinished(), clock);
  }

  /**
   * Notes which indexes must be built for the parameters of this server. This runs before any write.
   * @throws StartError if two parameters collide, or one of a module cannot be used
   */
  async onModuleInit(): Promise<void> {
    await Promise.resolve(); // the registries, which hold the types, are filled first
    const own = this.types.own();
    const parameters = own.flatMap(({ type, searchParameters = [] }) =>
      searchParameters.map((parameter) => ({ type, ...parameter })),
    );
    const ownTypes = own.map(({ type }) => type);
    const declared = new SearchParameterSet(parameters, ownTypes, this.types.elements);
    for (const { type, code, kind, targets = [] } of parameters) {
      const unusable = declared.listUnusable(type).find((one) => one.code === code);
      let reason = unusable?.reason;
      if (!PARAMETER_CODE.test(code)) reason = `its code ${CODE_RULE}`;
      if (kind !== 'reference' && targets.length > 0) reason = 'it has targets, but its kind is not "reference"';
      if (reason === undefined) continue;
      const module = handlerNameOf(this.types.find(type)?.handler ?? this);
      throw new StartError(`${module}: the search parameter ${type}.${code} cannot be used: ${reason}.`);
    }
    this.digest = definitionsDigest(parameters, ownTypes, this.types.elements.shapes);
    this.declared = declared.withBits(await this.states.compare(declared, this.digest));
  }

  /** Loads the parameters at start, so that the first request does not wait for them. */
  async onApplicationBootstrap(): Promise<void> {
    await this.cached.get();
  }

  /** The parameters of HL7 and of modules; immutable. */
  get builtIn(): SearchParameterSet {
    if (this.declared === undefined) throw new Error('The search parameters are not compared yet.');
    return this.declared;
  }

  /** The current parameters, for code that reads index rows. */
  async current(): Promise<IndexSnapshot> {
    const snapshot = await this.cached.get();
    if (snapshot.parameters.hasUnfinished) await this.progress.refresh();
    return snapshot;
  }

  /**
   * The cached parameters, for a write. If they are outdated, the write fails with a conflict.
   * @throws ServiceError 'busy' if a server with other search parameters was started on the database after this one
   */
  async forWrite(): Promise<IndexSnapshot> {
    const snapshot = this.cached.newest ?? (await this.cached.get());
    if (snapshot.isOfThisBuild) return snapshot;
    throw new ServiceError(
      'release-outdated',
      'A server with other search parameters has been started on this database. This one writes nothing any more: stop it.',
      { retryAfterSeconds: 10 },
    );
  }

  forget(): void {
    this.cached.forget();
  }

  /** The cached parameters of this process. A change of the last moments may be missing in them. */
  get parameters(): SearchParameterSet {
    return this.cached.newest?.parameters ?? this.builtIn;
  }

  referenceHash(type: string, id: string): number {
    return this.hashes.ofTarget(localKey(type, id));
  }

  /**
   * Loads the parameters after a change of the registry epoch: a number in the database that each change of a cached
   * registry raises. If parameters and states are the same, since another registry changed, the snapshot stays the same
   * object.
   */
  private async load(): Promise<IndexSnapshot> {
    const { signature, version, live, unfinished: ids, definitions } = await this.states.load();
    if (this.loaded?.signature !== signature) {
      const progressOf = (type: string, code: string): KnownIndexProgress | undefined => this.progress.of(type, code);
      const parameters = this.builtIn.withLive(live).withUnfinished({ ids, progressOf });
      const extractorOf = extractorsBy(parameters, this.hashes, this.environment.baseUrl);
      const snapshot = { version, parameters, extractorOf, isOfThisBuild: definitions === this.digest };
      this.loaded = { signature, snapshot };
    }
    return this.loaded.snapshot;
  }
}
