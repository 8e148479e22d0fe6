import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../../platform/database/registry-epoch';
import { UnitOfWork } from '../../../platform/database/unit-of-work';
import { ServiceError } from '../../../platform/errors/service-error';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../../resource-change';
import { type OwnSearchParameter } from '../extract/search-parameter';
import { SearchIndex } from '../search-index';
import { isBuiltIn, notDeletable } from './built-in-definition';
import { IndexWorker } from './index-worker';
import { type LiveParameterRow } from './live-search-parameter';
import { LiveSearchParameters } from './live-search-parameters.repository';
import { readDefinition } from './read-definition';

/** Every write of a type pays for each of its parameters. */
const MAX_OF_TYPE = 100;

/** Brings the live parameters in line with the stored SearchParameters, in the transaction of their change. */
@Injectable()
@OnResourceChange({ types: ['SearchParameter'] })
export class SearchParameterListener implements ResourceChangeListener {
  private readonly versionRaised = Symbol('search-parameter-version');

  constructor(
    private readonly live: LiveSearchParameters,
    private readonly index: SearchIndex,
    private readonly worker: IndexWorker,
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async onChange({ id, current, previous }: ResourceChange): Promise<void> {
    if (current === undefined && previous !== undefined && isBuiltIn(previous.value))
      throw notDeletable(previous.value);
    const wanted = current === undefined ? [] : readDefinition(current.value, this.index.builtIn);
    const stored = (await this.live.listOf(id)).filter(({ state }) => state !== 'removing');
    const outdated = stored.filter((row) => !wanted.some((one) => isSame(one, row)));
    const added = wanted.filter((one) => !stored.some((row) => isSame(one, row)));
    if (outdated.length + added.length === 0) return;
    for (const row of outdated) await this.live.remove(row);
    for (const parameter of added) await this.add(id, parameter);
    this.epoch.raise();
    // At the end of the transaction: its own writes go by the version before.
    this.unitOfWork.gather(this.versionRaised, undefined, () => this.live.raiseVersion());
    this.unitOfWork.afterCommit(() => {
      this.worker.wake();
    });
  }

  private async add(id: string, parameter: OwnSearchParameter): Promise<void> {
    const { type, code } = parameter;
    if ((await this.live.countOf(type)) >= MAX_OF_TYPE)
      throw new ServiceError('unprocessable', `${type} has ${MAX_OF_TYPE} search parameters of its own already.`, {
        expression: 'SearchParameter.base',
      });
    if (await this.live.add(id, parameter)) return;
    throw new ServiceError(
      'duplicate',
      `Another active SearchParameter defines ${type}.${code}. Choose another code.`,
      {
        expression: 'SearchParameter.code',
      },
    );
  }
}

const isSame = (
  { type, code, kind, expression, targets = [], components = [] }: OwnSearchParameter,
  row: LiveParameterRow,
): boolean =>
  row.resource_type === type &&
  row.code === code &&
  row.kind === kind &&
  row.expression === expression &&
  row.targets.join() === targets.join() &&
  isDeepStrictEqual(row.components, components);
