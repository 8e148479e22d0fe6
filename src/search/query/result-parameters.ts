import { parameterInvalid } from '../../platform/errors/parameter-invalid';

/** Parameters that shape the answer but do not choose the matches. */
export const RESULT_PARAMETERS: ReadonlySet<string> = new Set([
  ...['_count', '_total', '_sort', '_after', '_before', '_include', '_revinclude', '_elements', '_summary'],
  ...['_page', '_result', '_timeout', '_explain', '_format', '_pretty'],
]);

/** Whether a parameter, with or without a modifier, shapes the answer. */
export const isResultParameter = (name: string): boolean => RESULT_PARAMETERS.has(name.split(':', 1)[0] ?? '');

/** Lists, whose values are joined, and parameters that only choose the form of the answer. */
const REPEATABLE = ['_include', '_revinclude', '_elements', '_format', '_pretty'];

/**
 * The names among {@link RESULT_PARAMETERS} that a query may contain only once: the server would ignore the second
 * value.
 */
export const SINGLE_PARAMETERS: readonly string[] = [...RESULT_PARAMETERS].filter((name) => !REPEATABLE.includes(name));

const DEFAULT_COUNT = 100;
const LARGEST_COUNT = 1000;

/** Reads `_count`. A larger number than 1,000 becomes 1,000, as the `self` link shows. 0 requests only the total. */
export function countOf(query: URLSearchParams): number {
  const text = query.get('_count');
  if (text === null || text === '') return DEFAULT_COUNT;
  if (!/^\d{1,9}$/.test(text)) throw parameterInvalid('_count must be a whole number such as 20.');
  return Math.min(Number(text), LARGEST_COUNT);
}

/**
 * Maximum number of resources up to the end of a numbered page, since the server reads and skips all those before the
 * page.
 */
const DEEPEST = 10_000;

/**
 * Reads `_page`, which counts from 1.
 * @param count number of resources on each page
 * @throws ServiceError 'invalid' for a text that is no page number, or for a page so deep that only the links between
 *   pages reach it
 */
export function pageOf(query: URLSearchParams, count: number): number | undefined {
  const text = query.get('_page');
  if (text === null || text === '') return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw parameterInvalid('_page must be a whole number from 1 on.');
  if (isTooDeep(Number(text), count)) {
    throw parameterInvalid(`_page goes as far as ${DEEPEST} resources; beyond them follow the "next" link of a page.`);
  }
  return Number(text);
}

export const isTooDeep = (page: number, count: number): boolean => page * count > DEEPEST;

/** Reads `_result`: `array` requests the resources without a Bundle. */
export function isArrayResult(query: URLSearchParams): boolean {
  const text = query.get('_result');
  if (text === null || text === '') return false;
  if (text === 'array') return true;
  throw parameterInvalid('_result is array, or absent for a Bundle.');
}

export const asksForTotal = (query: URLSearchParams): boolean =>
  query.has('_total') && totalModeOf(query.get('_total')) !== 'none';

/**
 * Reads the text of `_timeout`, in seconds. A larger number than `most` becomes `most`, as the `self` link shows.
 * @returns undefined if absent
 */
export function timeoutOf(text: string | null, most: number): number | undefined {
  if (text === null) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw parameterInvalid('_timeout must be a whole number of seconds above 0.');
  return Math.min(Number(text), most);
}

export type TotalMode = 'accurate' | 'estimate' | 'none';

/** Reads `_total`; the default is accurate. */
export function totalModeOf(text: string | null | undefined): TotalMode {
  if (text === null || text === undefined) return 'accurate';
  if (text === 'accurate' || text === 'estimate' || text === 'none') return text;
  throw parameterInvalid('_total must be accurate, estimate or none.');
}
