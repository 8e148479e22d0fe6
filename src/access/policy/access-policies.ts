import { Injectable, Logger } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { ServiceError } from '../../platform/errors/service-error';
import { errorTrace } from '../../platform/logging/error-trace';
import { ResourceReader } from '../../store/resource-reader';
import { type CompiledPolicy, compilePolicy } from './compiled-policy';
import { PolicyEngines } from './policy-engine.registry';
import { PolicyIndex } from './policy-index';

/** All stored policies, compiled. They are read again when the registry epoch (a counter of changes) has risen. */
@Injectable()
export class AccessPolicies {
  private readonly logger = new Logger(AccessPolicies.name);
  private readonly cached: CachedRegistry<PolicyIndex>;
  /** Compiled policies by their stored text: most are unchanged when the registry epoch rises. */
  private compiled: ReadonlyMap<string, CompiledPolicy> = new Map();

  constructor(
    epoch: RegistryEpoch,
    private readonly reader: ResourceReader,
    private readonly engines: PolicyEngines,
  ) {
    this.cached = new CachedRegistry(epoch, () => this.load());
  }

  current(): Promise<PolicyIndex> {
    return this.cached.get();
  }

  private async load(): Promise<PolicyIndex> {
    const stored = await this.reader.list('AccessPolicy');
    const compiled = new Map<string, CompiledPolicy>();
    for (const { id, text } of stored) {
      const policy = this.compiled.get(text) ?? this.compile(id, text);
      if (policy !== undefined) compiled.set(text, policy);
    }
    this.compiled = compiled;
    return new PolicyIndex([...compiled.values()].sort(byCost));
  }

  /** A policy that cannot be compiled, for example because its engine is gone, grants nothing. */
  private compile(id: string, text: string): CompiledPolicy | undefined {
    try {
      return compilePolicy(JSON.parse(text) as Resource, this.engines);
    } catch (error) {
      // The error is logged and not thrown: a fault of one engine must not fail the requests of all callers.
      if (error instanceof ServiceError) this.logger.warn(`AccessPolicy/${id} grants nothing: ${error.message}`);
      else this.logger.error(`AccessPolicy/${id} grants nothing`, errorTrace(error));
      return undefined;
    }
  }
}

/**
 * The order of evaluation. A grant without criteria ends the evaluation and the engine `allow` costs nothing, so such
 * policies come first.
 */
const byCost = (one: CompiledPolicy, other: CompiledPolicy): number => costOf(one) - costOf(other);
const costOf = ({ criteria, engine }: CompiledPolicy): number =>
  (criteria.length > 0 ? 2 : 0) + (engine === 'allow' ? 0 : 1);
