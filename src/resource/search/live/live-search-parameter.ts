import { type SearchParameterKind } from '../../../fhir/definitions';
import { type LiveState, type OwnComponent } from '../extract/search-parameter';

/** One parameter of one type that a stored SearchParameter brings, and how far its index is. */
export interface LiveParameterRow {
  readonly parameter_key: number;
  readonly definition_id: string;
  readonly resource_type: string;
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly expression: string;
  readonly targets: readonly string[];
  /** The parts of a composite; none of others. */
  readonly components: readonly OwnComponent[];
  /** Of one that is removed, rows are still stored. */
  readonly state: LiveState | 'removing';
  readonly done_count: number;
  readonly total_count: number;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** How far an index is that is built or removed. */
export interface IndexProgress {
  /** From 0 to 100, rounded down: 100 only when it is done. */
  readonly percent: number;
  /** Undefined until there is something to go by. */
  readonly secondsLeft?: number;
}

/** @param now epoch milliseconds */
export function progressOf(row: LiveParameterRow, now: number): IndexProgress {
  if (row.state === 'active') return { percent: 100 };
  const { done_count: done, total_count: total, started_at: startedAt } = row;
  const percent = total === 0 ? 0 : Math.min(99, Math.floor((done / total) * 100));
  if (startedAt === null || done === 0) return { percent };
  const elapsedSeconds = Math.max(0, now - startedAt.getTime()) / 1000;
  return { percent, secondsLeft: Math.ceil((elapsedSeconds / done) * Math.max(0, total - done)) };
}
