import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/background/background-tasks';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { EntryAccesses } from '../access/entry-access.registry';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../hooks/resource-change';
import { type OwnSearchParameter, type SearchParameter } from '../../search-index/extract/search-parameter';
import { SearchIndex } from '../../search-index/search-index';
import { isBuiltIn, notDeletable } from './built-in-definition';
import { parameterDigest } from '../../search-index/extract/parameter-digest';
import { INDEX_TASK } from '../../store/index-job';
import { definitionOf, type ParameterState } from '../../search-index/states/parameter-state';
import { ParameterStates } from '../../search-index/states/parameter-states.repository';
import { readDefinition } from './read-definition';

/** Maximum number of live parameters of one type, since every write of the type evaluates all of them. */
const MAX_OF_TYPE = 100;

/** Keeps the live parameters equal to the stored SearchParameters, in the transaction of the change. */
@Injectable()
@OnResourceChange({ types: ['SearchParameter'] })
export class SearchParameterListener implements ResourceChangeListener {
  private readonly versionRaised = Symbol('search-parameter-version');

  constructor(
    private readonly access: EntryAccesses,
    private readonly states: ParameterStates,
    private readonly index: SearchIndex,
    private readonly background: BackgroundTasks,
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async onChange({ id, current, previous }: ResourceChange): Promise<void> {
    if (current === undefined && previous !== undefined && isBuiltIn(previous.value))
      throw notDeletable(previous.value);
    const wanted = current === undefined ? [] : readDefinition(current.value, this.index.builtIn);
    const stored = (await this.states.listOf(id)).filter(({ state }) => state !== 'removing');
    const gone = stored.filter((row) => !wanted.some((one) => isNamed(one, row)));
    const changed = wanted.filter((one) => !stored.some((row) => isDeepStrictEqual(definitionOf(row), one)));
    if (gone.length + changed.length === 0) return;
    await this.access.decider.assertMayRedefine([
      ...changed,
      ...gone.map(({ resource_type: type, code }) => ({ type, code })),
    ]);
    for (const row of gone) await this.states.remove(row);
    for (const parameter of changed) await this.put(id, parameter, stored);
    this.epoch.raise();
    // The version number of the set of parameters is raised at the end of the transaction, since writes of this
    // transaction still use the set before.
    this.unitOfWork.gather(this.versionRaised, undefined, () => this.states.raiseVersion());
    this.unitOfWork.afterCommit(() => {
      void this.background.wake(INDEX_TASK);
    });
  }

  private async put(id: string, parameter: OwnSearchParameter, stored: readonly ParameterState[]): Promise<void> {
    const { type, code } = parameter;
    if (!stored.some((row) => isNamed(parameter, row)) && (await this.states.countOf(type)) >= MAX_OF_TYPE)
      throw new ServiceError(
        'search-parameter-invalid',
        `${type} has ${MAX_OF_TYPE} search parameters of its own already.`,
        { expression: 'SearchParameter.base' },
      );
    const set = this.index.builtIn.withLive([parameter]);
    const compiled = set.find(type, code);
    const digest = compiled === undefined ? '' : parameterDigest(compiled, set);
    if (await this.states.put(id, parameter, digest, hasRows(compiled) ? 'building' : 'active')) return;
    throw new ServiceError(
      'search-parameter-taken',
      `Another active SearchParameter defines ${type}.${code}. Choose another code.`,
      { expression: 'SearchParameter.code' },
    );
  }
}

/**
 * Whether the parameter has its own rows. An alias of a built-in parameter uses the rows of that parameter. A composite
 * whose components are searched independently uses those of its components.
 */
const hasRows = (parameter: SearchParameter | undefined): boolean =>
  parameter?.isLive === true &&
  parameter.storedAs.includes(parameter.parameterId) &&
  (parameter.composite === undefined || parameter.composite.rows !== undefined);

const isNamed = ({ type, code }: OwnSearchParameter, row: ParameterState): boolean =>
  row.resource_type === type && row.code === code;
