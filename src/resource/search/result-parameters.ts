import { ServiceError } from '../../platform/errors/service-error';

/** Parameters that shape the answer and not the matches; they are read where the answer is made. */
export const RESULT_PARAMETERS: ReadonlySet<string> = new Set([
  ...['_count', '_total', '_sort', '_after', '_before', '_include', '_revinclude', '_elements', '_summary'],
  ...['_explain', '_format', '_pretty'],
]);

/** What a page holds when `_count` is absent, and at most. */
const DEFAULT_COUNT = 100;
const LARGEST_COUNT = 1000;

/** Reads `_count`; above 1,000 it is clamped, which the `self` link shows. 0 asks for the total alone. */
export function countOf(query: URLSearchParams): number {
  const text = query.get('_count');
  if (text === null || text === '') return DEFAULT_COUNT;
  if (!/^\d{1,9}$/.test(text)) throw new ServiceError('invalid', '_count must be a whole number such as 20.');
  return Math.min(Number(text), LARGEST_COUNT);
}

export type TotalMode = 'accurate' | 'estimate' | 'none';

/** Reads `_total`; accurate when absent. */
export function totalModeOf(query: URLSearchParams): TotalMode {
  const text = query.get('_total') ?? 'accurate';
  if (text === 'accurate' || text === 'estimate' || text === 'none') return text;
  throw new ServiceError('invalid', '_total must be accurate, estimate or none.');
}

/** Whether `Prefer` asks to ignore unknown parameters (http://hl7.org/fhir/R4/search.html#errors). */
export const isLenient = (prefer: string | undefined): boolean =>
  /(^|[\s;,])handling=lenient($|[\s;,])/.test(prefer ?? '');

/** Reads `_explain`: `1`, `true` and `analyze` ask for the plan with the answer; `0` and `false` do not. */
export function isExplained(query: URLSearchParams): boolean {
  const text = query.get('_explain');
  if (text === null || text === '' || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true' || text === 'analyze') return true;
  throw new ServiceError('invalid', '_explain is 1 or 0.');
}
