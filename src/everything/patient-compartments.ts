import { Injectable } from '@nestjs/common';
import { type CompartmentDefinition } from '../fhir/definitions';
import { CachedRegistry, RegistryEpoch } from '../platform/database/registry-epoch';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { ResourceReader } from '../resource/resource-reader';
import { type SearchParameterSet } from '../resource/search/extract/search-parameter-set';
import { SearchIndex } from '../resource/search/search-index';

/** The links by which a resource belongs to a patient: rows of the reference table, narrowed by nothing else. */
export interface PatientCompartment {
  readonly parameterIds: readonly number[];
}

/** The stored CompartmentDefinition of Patient: whatever it says at the moment is the compartment. */
@Injectable()
export class PatientCompartments {
  private readonly cached: CachedRegistry<PatientCompartment>;

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly reader: ResourceReader,
    private readonly index: SearchIndex,
  ) {
    this.cached = new CachedRegistry(epoch, unitOfWork, () => this.load());
  }

  current(): Promise<PatientCompartment> {
    return this.cached.get();
  }

  /** Id `Patient`, else `patient`, else any definition whose code is Patient. */
  private async load(): Promise<PatientCompartment> {
    const stored = (await this.reader.list('CompartmentDefinition')).map(({ id, text }) => ({
      ...(JSON.parse(text) as CompartmentDefinition),
      id,
    }));
    const definition =
      stored.find(({ id }) => id === 'Patient') ??
      stored.find(({ id }) => id === 'patient') ??
      stored.find(({ code }) => code === 'Patient');
    if (definition === undefined) {
      throw new ServiceError(
        'unprocessable',
        'No CompartmentDefinition of Patient is stored. Store one, for example under the id "patient".',
      );
    }
    return { parameterIds: parameterIdsOf(definition, (await this.index.current()).parameters) };
  }
}

function parameterIdsOf({ resource }: CompartmentDefinition, parameters: SearchParameterSet): number[] {
  const ids = resource.flatMap(({ code: type, param = [] }) =>
    param.flatMap((code) => {
      const parameter = parameters.find(type, code);
      // A part that nobody can search would be missing from every answer without a word.
      if (parameter === undefined)
        throw new ServiceError(
          'unprocessable',
          `The CompartmentDefinition names ${type}.${code}, which is no search parameter.`,
        );
      if (parameter.live === 'building')
        throw new ServiceError('busy', `The index of ${type}.${code} is being built. Try again later.`, {
          retryAfterSeconds: 10,
        });
      return [...parameter.storedAs];
    }),
  );
  return [...new Set(ids)];
}
