import { ServiceError } from '../../platform/errors/service-error';

/** Parameters that shape the answer and not the matches; they are read where the answer is made. */
export const RESULT_PARAMETERS: ReadonlySet<string> = new Set([
  ...['_count', '_total', '_sort', '_after', '_before', '_include', '_revinclude', '_elements', '_summary'],
  ...['_page', '_result', '_timeout', '_explain', '_format', '_pretty'],
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

/** Pages by number read and skip what stands before them: that many resources, and no more. */
const DEEPEST = 10_000;

/**
 * Reads `_page`, which counts from 1.
 * @param count of resources on each page
 * @throws ServiceError 'invalid' for no such number, or one that only links lead to
 */
export function pageOf(query: URLSearchParams, count: number): number | undefined {
  const text = query.get('_page');
  if (text === null || text === '') return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new ServiceError('invalid', '_page must be a whole number from 1 on.');
  if (isTooDeep(Number(text), count)) {
    throw new ServiceError(
      'invalid',
      `_page goes as far as ${DEEPEST} resources; beyond them follow the "next" link of a page.`,
    );
  }
  return Number(text);
}

export const isTooDeep = (page: number, count: number): boolean => page * count > DEEPEST;

/** Reads `_result`: `array` asks for the bare resources. */
export function isArrayResult(query: URLSearchParams): boolean {
  const text = query.get('_result');
  if (text === null || text === '') return false;
  if (text === 'array') return true;
  throw new ServiceError('invalid', '_result is array, or absent for a Bundle.');
}

/** Whether a total was asked for, and not only left to its default. */
export const asksForTotal = (query: URLSearchParams): boolean =>
  query.has('_total') && totalModeOf(query.get('_total')) !== 'none';

/**
 * Reads the text of `_timeout`, in seconds; larger ones than `most` are clamped, which the `self` link shows.
 * @returns undefined when nothing is asked
 */
export function timeoutOf(text: string | null, most: number): number | undefined {
  if (text === null) return undefined;
  if (!/^[1-9]\d*$/.test(text))
    throw new ServiceError('invalid', '_timeout must be a whole number of seconds above 0.');
  return Math.min(Number(text), most);
}

export type TotalMode = 'accurate' | 'estimate' | 'none';

/** Reads `_total`; accurate when absent. */
export function totalModeOf(text: string | null | undefined): TotalMode {
  if (text === null || text === undefined) return 'accurate';
  if (text === 'accurate' || text === 'estimate' || text === 'none') return text;
  throw new ServiceError('invalid', '_total must be accurate, estimate or none.');
}
