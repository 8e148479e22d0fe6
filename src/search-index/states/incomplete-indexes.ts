import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/time/clock';
import { type SearchParameter } from '../extract/search-parameter';
import { type ParameterState, progressOf } from './parameter-state';
import { ParameterStates } from './parameter-states.repository';

/** An issue of the OperationOutcome that an answer holds beside its matches. */
export interface OutcomeIssue {
  readonly severity: 'warning';
  readonly code: 'incomplete' | 'too-costly' | 'suppressed';
  readonly diagnostics: string;
}

/** Makes the warnings of an answer about incomplete indexes that its search used. */
@Injectable()
export class IncompleteIndexes {
  constructor(
    private readonly states: ParameterStates,
    private readonly clock: Clock,
  ) {}

  /**
   * One warning for each parameter whose index was incomplete before the search. The progress is read after the search;
   * an index that was completed in the meantime still gets a warning.
   */
  async warningsOf(parameters: readonly SearchParameter[]): Promise<readonly OutcomeIssue[]> {
    if (parameters.length === 0) return [];
    const rows = await this.states.listNamed(parameters);
    return parameters.map(({ type, code }) =>
      this.warningOf(
        type,
        code,
        rows.find((row) => row.resource_type === type && row.code === code && row.state === 'building'),
      ),
    );
  }

  private warningOf(type: string, code: string, row: ParameterState | undefined): OutcomeIssue {
    const diagnostics = `Resources may be missing or out of place: the index of ${type}.${code} was still being built`;
    const severity = 'warning';
    if (row === undefined) return { severity, code: 'incomplete', diagnostics: `${diagnostics}.` };
    const { percent, secondsLeft } = progressOf(row, this.clock.now().getTime());
    const left = secondsLeft === undefined ? '' : `, about ${secondsLeft} s are left`;
    const place = `SearchParameter/${row.definition_id === null ? '' : `${row.definition_id}/`}$index-status`;
    return { severity, code: 'incomplete', diagnostics: `${diagnostics}: ${percent} % are done${left} (${place}).` };
  }
}
