import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/time/clock';
import { type SearchParameter } from '../extract/search-parameter';
import { type LiveParameterRow, progressOf } from './live-search-parameter';
import { LiveSearchParameters } from './live-search-parameters.repository';

/** An issue of an OperationOutcome that comes with an answer. */
export interface OutcomeIssue {
  readonly severity: 'warning';
  readonly code: 'incomplete' | 'too-costly' | 'suppressed';
  readonly diagnostics: string;
}

/** Tells with answers how far the indexes are that they went by. */
@Injectable()
export class IncompleteIndexes {
  constructor(
    private readonly live: LiveSearchParameters,
    private readonly clock: Clock,
  ) {}

  /** One issue for each parameter; read after the search, so that an index counts as complete only if it was before. */
  async warningsOf(parameters: readonly SearchParameter[]): Promise<readonly OutcomeIssue[]> {
    if (parameters.length === 0) return [];
    const rows = await this.live.listBuilding();
    return parameters.map(({ type, code }) =>
      this.warningOf(
        type,
        code,
        rows.find((row) => isOf(row, type, code)),
      ),
    );
  }

  private warningOf(type: string, code: string, row: LiveParameterRow | undefined): OutcomeIssue {
    const diagnostics = `Resources may be missing: the index of ${type}.${code} was still being built`;
    const severity = 'warning';
    if (row === undefined) return { severity, code: 'incomplete', diagnostics: `${diagnostics} and is complete now.` };
    const { percent, secondsLeft } = progressOf(row, this.clock.now().getTime());
    const left = secondsLeft === undefined ? '' : `, about ${secondsLeft} s are left`;
    const place = `SearchParameter/${row.definition_id}/$index-status`;
    return { severity, code: 'incomplete', diagnostics: `${diagnostics}: ${percent} % are done${left} (${place}).` };
  }
}

const isOf = (row: LiveParameterRow, type: string, code: string): boolean =>
  row.resource_type === type && row.code === code;
