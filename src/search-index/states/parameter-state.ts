import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { type OwnComponent, type OwnSearchParameter } from '../extract/search-parameter';
import { type IndexProgress } from '../extract/search-parameter-set';

/** One parameter of one type, with the progress of its index. */
export interface ParameterState {
  readonly parameter_key: number;
  /**
   * Id of the stored SearchParameter that defines the parameter. It is null for parameters of HL7 and of modules, and
   * so are the columns that hold the definition.
   */
  readonly definition_id: string | null;
  readonly resource_type: string;
  readonly code: string;
  readonly kind: SearchParameterKind | null;
  readonly expression: string | null;
  readonly targets: readonly string[] | null;
  readonly components: readonly OwnComponent[] | null;
  /** While `building`, rows may be missing or outdated. While `removing`, some rows are still stored. */
  readonly state: 'building' | 'active' | 'removing';
  readonly done_count: number;
  readonly total_count: number;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** The definition of the parameter, if a stored SearchParameter defines it. */
export function definitionOf(state: ParameterState): OwnSearchParameter | undefined {
  const { resource_type: type, code, kind, expression, targets, components } = state;
  if (kind === null || expression === null) return undefined;
  return { type, code, kind, expression, targets: targets ?? [], components: components ?? [] };
}

/** @param now epoch milliseconds */
export function progressOf(row: ParameterState, now: number): IndexProgress {
  if (row.state === 'active') return { percent: 100 };
  const { done_count: done, total_count: total, started_at: startedAt } = row;
  const percent = total === 0 ? 0 : Math.min(99, Math.floor((done / total) * 100));
  if (startedAt === null || done === 0) return { percent };
  const elapsedSeconds = Math.max(0, now - startedAt.getTime()) / 1000;
  return { percent, secondsLeft: Math.ceil((elapsedSeconds / done) * Math.max(0, total - done)) };
}
