import { Injectable, Logger } from '@nestjs/common';
import { INDEX_JOB_LOCK } from '../../platform/database/advisory-locks';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { ServerSetup } from '../../platform/database/server-setup';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { parameterIdOf } from '../extract/hash';
import { type OwnSearchParameter, type SearchParameter } from '../extract/search-parameter';
import { type AssignedBits, type SearchParameterSet } from '../extract/search-parameter-set';
import { type ComparedState, compareStates, type StateChanges } from './compare-states';
import { type ParameterState } from './parameter-state';
import {
  BEGIN,
  BUILD,
  COUNT_OF_TYPE,
  FINISH,
  LIST_NAMED,
  LIST_OF_DEFINITION,
  LIST_UNFINISHED,
  LIST_WRITERS,
  LOCK_ALL,
  LOCK_EMPTY,
  LOCK_NEW,
  PUT,
  RAISE_VERSION,
  READ_BITS,
  READ_SET,
  REBUILD,
  REMOVE,
} from './parameter-state-statements';

/** The search parameters of the database at one moment. */
export interface ParametersInForce {
  readonly version: number;
  readonly live: readonly OwnSearchParameter[];
  /** Ids of parameters whose rows may be missing or outdated. */
  readonly unfinished: ReadonlySet<number>;
  /** Digest of the parameters of the server that compared its parameters last. */
  readonly definitions: string | null;
  /** Equal texts mean equal parameters and states. */
  readonly signature: string;
}

type SetRow = Pick<ParametersInForce, 'version' | 'definitions'> & Record<'live' | 'unfinished', string | null>;

/** Key in `server_setup` that holds the digest of the last comparison. */
const COMPARED = 'search-index';

/** Reads and writes `search_parameter_state`, without the steps of index jobs (`index-job.ts`). */
@Injectable()
export class ParameterStates {
  private readonly logger = new Logger(ParameterStates.name);

  constructor(
    private readonly statements: Statements,
    private readonly setup: ServerSetup,
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Notes which indexes to build and to remove for the parameters that this server declares. If they equal those of the
   * last server, this takes a single statement.
   * @returns the presence bits of the parameters
   */
  async compare(declared: SearchParameterSet, digest: string): Promise<AssignedBits> {
    const isCompared = await this.setup.whenChanged(COMPARED, digest, async () => {
      const stored = await this.statements.run<ComparedState>(LOCK_ALL, []);
      await this.note(compareStates(declared, stored));
    });
    // Finishes parameters of types without resources, so that a new database answers without warnings.
    if (isCompared)
      await this.unitOfWork.run(async () => {
        if (await this.statements.tryLock(INDEX_JOB_LOCK)) await this.begin();
      });
    const rows = await this.statements.run<{ resource_type: string; bits: string }>(READ_BITS, []);
    return new Map(
      rows.map(({ resource_type: type, bits }) => [
        type,
        new Map(Object.entries(JSON.parse(bits) as Record<string, number>)),
      ]),
    );
  }

  /** Begins the noted jobs. Every transaction that is not in `writers` uses the current parameters from now on. */
  async begin(): Promise<void> {
    const keys = await this.lock(LOCK_NEW);
    if (keys.length === 0) return;
    const writers = await this.listWriters(null);
    for (const { type, count } of await this.statements.run<{ type: string; count: number }>(BEGIN, [keys, writers]))
      this.logger.log(`Indexing ${type} anew: ${count} resources`);
    const empty = await this.lock(LOCK_EMPTY);
    if (empty.length > 0) {
      await this.statements.run(FINISH, [empty]);
      this.epoch.raise();
    }
  }

  private async lock(statement: Statement): Promise<number[]> {
    const rows = await this.statements.run<{ parameter_key: number }>(statement, []);
    return rows.map(({ parameter_key: key }) => key);
  }

  /**
   * Lists the transactions that may have written with older parameters.
   * @param among transactions to check; null means all
   */
  async listWriters(among: readonly string[] | null): Promise<readonly string[]> {
    return (await this.statements.runOne<{ writers: string[] }>(LIST_WRITERS, [among]))?.writers ?? [];
  }

  async load(): Promise<ParametersInForce> {
    const row = await this.statements.runOne<SetRow>(READ_SET, [COMPARED]);
    const { version = 0, live, unfinished, definitions = null } = row ?? {};
    const names = JSON.parse(unfinished ?? '[]') as [type: string, code: string][];
    return {
      version,
      live: JSON.parse(live ?? '[]') as OwnSearchParameter[],
      unfinished: new Set(names.map(([type, code]) => parameterIdOf(type, code))),
      definitions,
      signature: `${version} ${live ?? ''} ${unfinished ?? ''} ${definitions ?? ''}`,
    };
  }

  /**
   * The parameters of a stored SearchParameter: one per type, and those of its earlier versions that are being removed.
   */
  listOf(definitionId: string): Promise<ParameterState[]> {
    return this.statements.run<ParameterState>(LIST_OF_DEFINITION, [definitionId]);
  }

  /** Parameters without a state are left out. */
  listNamed(names: readonly Pick<SearchParameter, 'type' | 'code'>[]): Promise<ParameterState[]> {
    const columns = [names.map(({ type }) => type), names.map(({ code }) => code)];
    return this.statements.run<ParameterState>(LIST_NAMED, columns);
  }

  listUnfinished(): Promise<ParameterState[]> {
    return this.statements.run<ParameterState>(LIST_UNFINISHED, []);
  }

  async countOf(type: string): Promise<number> {
    return (await this.statements.runOne<{ count: number }>(COUNT_OF_TYPE, [type]))?.count ?? 0;
  }

  /**
   * Adds or changes the parameter of a stored SearchParameter.
   * @param state state of an added parameter; a changed one is always built
   * @returns false if another SearchParameter has the code
   */
  async put(
    definitionId: string,
    { type, code, kind, expression, targets = [], components = [] }: OwnSearchParameter,
    digest: string,
    state: 'building' | 'active',
  ): Promise<boolean> {
    const definition = [type, code, kind, expression, targets, JSON.stringify(components)];
    return (await this.statements.runOne(PUT, [definitionId, ...definition, digest, state])) !== undefined;
  }

  async remove({ parameter_key: key }: ParameterState): Promise<void> {
    await this.statements.run(REMOVE, [[key]]);
  }

  /** After the commit, writes with older parameters fail. */
  async raiseVersion(): Promise<void> {
    await this.statements.run(RAISE_VERSION, []);
  }

  private async note({ built, rebuilt, removed, takenOver }: StateChanges): Promise<void> {
    if (built.length + rebuilt.length + removed.length === 0) return;
    await this.statements.run(BUILD, [
      built.map(({ type }) => type),
      built.map(({ code }) => code),
      built.map(({ digest }) => digest),
      built.map(({ bit = null }) => bit),
    ]);
    await this.statements.run(REBUILD, [
      rebuilt.map(({ state }) => state.parameter_key),
      rebuilt.map(({ digest }) => digest),
    ]);
    await this.statements.run(REMOVE, [removed.map(({ parameter_key: key }) => key)]);
    await this.raiseVersion();
    this.epoch.raise();
    for (const { definition_id: id, resource_type: type, code } of takenOver)
      this.logger.warn(
        `${type}.${code} of SearchParameter/${id} has no effect any more: the server defines it itself.`,
      );
  }
}
