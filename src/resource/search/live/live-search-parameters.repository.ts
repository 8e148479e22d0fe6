import { Injectable } from '@nestjs/common';
import { Statements } from '../../../platform/database/statements';
import { type LiveSearchParameter, type OwnSearchParameter } from '../extract/search-parameter';
import { type LiveParameterRow } from './live-search-parameter';
import {
  COUNT_OF_TYPE,
  INSERT,
  LIST_BUILDING,
  LIST_OF_DEFINITION,
  RAISE_VERSION,
  READ_LIVE_SET,
  REMOVE,
} from './live-parameter-statements';

/** The live parameters of one moment. */
export interface LiveSet {
  readonly version: number;
  readonly parameters: readonly LiveSearchParameter[];
  /** Equal for equal sets. */
  readonly signature: string;
}

/** Rows of `live_search_parameter`, but for the jobs that build and remove indexes. */
@Injectable()
export class LiveSearchParameters {
  constructor(private readonly statements: Statements) {}

  async load(): Promise<LiveSet> {
    const row = await this.statements.runOne<{ version: number; parameters: string | null }>(READ_LIVE_SET, []);
    const { version = 0, parameters } = row ?? {};
    return {
      version,
      parameters: JSON.parse(parameters ?? '[]') as LiveSearchParameter[],
      signature: `${version} ${parameters ?? ''}`,
    };
  }

  /** The parameters of a stored SearchParameter, one a type, and those of its earlier versions that are being removed. */
  listOf(definitionId: string): Promise<LiveParameterRow[]> {
    return this.statements.run<LiveParameterRow & Record<string, unknown>>(LIST_OF_DEFINITION, [definitionId]);
  }

  listBuilding(): Promise<LiveParameterRow[]> {
    return this.statements.run<LiveParameterRow & Record<string, unknown>>(LIST_BUILDING, []);
  }

  async countOf(type: string): Promise<number> {
    return (await this.statements.runOne<{ count: number }>(COUNT_OF_TYPE, [type]))?.count ?? 0;
  }

  /** Returns false when another SearchParameter has the code. */
  async add(
    definitionId: string,
    { type, code, kind, expression, targets = [], components = [] }: OwnSearchParameter,
  ): Promise<boolean> {
    const values = [definitionId, type, code, kind, expression, targets, JSON.stringify(components)];
    return (await this.statements.runOne(INSERT, values)) !== undefined;
  }

  async remove({ parameter_key: key }: LiveParameterRow): Promise<void> {
    await this.statements.run(REMOVE, [key]);
  }

  /** Writes by older parameters fail from the commit on. */
  async raiseVersion(): Promise<void> {
    await this.statements.run(RAISE_VERSION, []);
  }
}
