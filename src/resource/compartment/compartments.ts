import { Injectable } from '@nestjs/common';
import { type CompartmentDefinition } from '../../fhir/definitions/definitions';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { ServiceError } from '../../platform/errors/service-error';
import { ResourceReader } from '../../store/resource-reader';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { SearchIndex } from '../../search-index/search-index';
import { assertFinished } from '../../search-index/unfinished-index';

/**
 * The search parameters whose references make a resource part of a compartment. They are found as rows of the index
 * table of references; no further condition is tested.
 */
export interface Compartment {
  readonly parameterIds: readonly number[];
  readonly parameterIdsByType: ReadonlyMap<string, readonly number[]>;
  /** Whether the owner is part of the compartment (`{def}`). */
  readonly hasItself: boolean;
  /**
   * For each parameter id, its codes in the definition, such as `subject`. Parameters that share index rows have one
   * id, and so several codes.
   */
  readonly codesById: ReadonlyMap<number, readonly string[]>;
  /**
   * Checks that the references can be searched.
   * @throws ServiceError 'busy' while the index of one of these search parameters is incomplete; with `types`, only
   *   their parameters count
   */
  assertFinished(types?: Iterable<string>): void;
}

/** The parameter that means the owner of the compartment itself. HL7's definition of Encounter has it, for example. */
export const ITSELF = '{def}';

/** The compartments of the CompartmentDefinitions that are stored now. */
@Injectable()
export class Compartments {
  private readonly cached: CachedRegistry<readonly CompartmentDefinition[]>;
  private readonly compiled = new WeakMap<
    CompartmentDefinition,
    { readonly parameters: SearchParameterSet; readonly compartment: Compartment }
  >();

  constructor(
    epoch: RegistryEpoch,
    reader: ResourceReader,
    private readonly index: SearchIndex,
  ) {
    this.cached = new CachedRegistry(epoch, async () => {
      const stored = await reader.list('CompartmentDefinition');
      return stored.map(({ id, text }) => {
        const { code = '', resource = [] } = JSON.parse(text) as Partial<CompartmentDefinition>;
        return { resourceType: 'CompartmentDefinition', id, code, resource };
      });
    });
  }

  /**
   * The compartment of resources of type `code`. Its definition is the CompartmentDefinition whose id is `code`, else
   * the one whose id is `code` in lower case, else any one with this `code`.
   * @throws ServiceError 'unprocessable' if none is stored, or it names an unknown parameter
   */
  async of(code: string): Promise<Compartment> {
    const stored = await this.cached.get();
    const definition =
      stored.find(({ id }) => id === code) ??
      stored.find(({ id }) => id === code.toLowerCase()) ??
      stored.find((one) => one.code === code);
    if (definition === undefined) {
      throw new ServiceError(
        'compartment-definition-invalid',
        `No CompartmentDefinition of ${code} is stored. Store one, for example under the id "${code.toLowerCase()}".`,
      );
    }
    return this.compiledOf(definition, (await this.index.current()).parameters);
  }

  /**
   * Compiles a definition. The cache also depends on the search parameters, since these may change while the definition
   * stays the same.
   */
  private compiledOf(definition: CompartmentDefinition, parameters: SearchParameterSet): Compartment {
    const known = this.compiled.get(definition);
    if (known?.parameters === parameters) return known.compartment;
    const compartment = compartmentOf(definition, parameters);
    this.compiled.set(definition, { parameters, compartment });
    return compartment;
  }
}

function compartmentOf({ code: owner, resource }: CompartmentDefinition, parameters: SearchParameterSet): Compartment {
  const idsByType = new Map<string, Set<number>>();
  const codesById = new Map<number, readonly string[]>();
  const unfinished = new Map<string, SearchParameter>();
  for (const { code: type, param = [] } of resource) {
    const ids = idsByType.get(type) ?? new Set();
    idsByType.set(type, ids);
    for (const code of param.filter((one) => one !== ITSELF)) {
      const parameter = linkOf(type, code, parameters);
      if (parameters.isUnfinished(parameter)) unfinished.set(type, parameter);
      for (const parameterId of parameter.storedAs) {
        ids.add(parameterId);
        codesById.set(parameterId, [...new Set([...(codesById.get(parameterId) ?? []), code])]);
      }
    }
  }
  const parameterIdsByType = new Map([...idsByType].map(([type, ids]) => [type, [...ids]]));
  const hasItself = resource.some(({ code, param = [] }) => code === owner && param.includes(ITSELF));
  const assertFinishedOf = (types: Iterable<string> = unfinished.keys()): void => {
    for (const type of types) assertFinished(unfinished.get(type), parameters);
  };
  const parameterIds = [...codesById.keys()];
  return { parameterIds, parameterIdsByType, hasItself, codesById, assertFinished: assertFinishedOf };
}

function linkOf(type: string, code: string, parameters: SearchParameterSet): SearchParameter {
  const parameter = parameters.find(type, code);
  // Without this parameter, every answer would lack some resources of the compartment. So the definition is refused.
  if (parameter !== undefined) return parameter;
  throw new ServiceError(
    'compartment-definition-invalid',
    `The CompartmentDefinition names ${type}.${code}, which is no search parameter. Remove it there, or start the server with the module that defines it.`,
  );
}
