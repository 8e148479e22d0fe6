import { type Clock } from '../../platform/time/clock';
import { type KnownIndexProgress } from '../extract/search-parameter-set';
import { type ParameterState, progressOf } from './parameter-state';

const READ_AGAIN_MILLISECONDS = 1_000;

/**
 * Progress of unfinished indexes. It is read from the database at most once a second and kept, since the code that
 * refuses a request cannot wait for it.
 */
export class KnownProgress {
  private readAt = -Infinity;
  private rows: readonly ParameterState[] = [];

  constructor(
    private readonly list: () => Promise<readonly ParameterState[]>,
    private readonly clock: Clock,
  ) {}

  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.readAt < READ_AGAIN_MILLISECONDS) return;
    this.readAt = now;
    this.rows = await this.list();
  }

  of(type: string, code: string): KnownIndexProgress | undefined {
    const row = this.rows.find((one) => one.resource_type === type && one.code === code);
    return row && { ...progressOf(row, this.clock.now().getTime()), definitionId: row.definition_id };
  }
}
