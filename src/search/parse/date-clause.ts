import { type DateRange, sentDateSpanOf } from '../../fhir/instant';
import { type DateBox } from '../query/search-query';
import { alternativesOf, invalid, type Prefix, prefixOf } from './values';

/**
 * The share of the time between now and the date by which a match of `ap` may differ
 * (http://hl7.org/fhir/R4/search.html#prefix).
 */
const APPROXIMATION = 0.1;

/**
 * The limits for rows of a date parameter that match one searched value; each box is an alternative
 * (http://hl7.org/fhir/R4/search.html#date).
 */
export function dateBoxesOf(name: string, text: string, now: number): readonly DateBox[] {
  const { prefix, rest } = prefixOf(text);
  return boxesOf(prefix, spanOf(name, rest), now);
}

/**
 * Reads `date=ge2020-01,lt1990` and `date:btw=2020-01,2020-03` as boxes. `:btw` matches each row that overlaps the time
 * from the beginning of the first date to the end of the second.
 */
export function dateAlternativesOf(
  name: string,
  modifier: 'btw' | undefined,
  value: string,
  now: number,
): readonly DateBox[] {
  const values = alternativesOf(name, value);
  if (modifier === undefined) return values.flatMap((text) => dateBoxesOf(name, text, now));
  const [first, last, ...rest] = values;
  if (first === undefined || last === undefined || rest.length > 0)
    throw invalid(name, 'takes two dates with a comma between them');
  const [low, high] = [spanOf(name, first), spanOf(name, last)];
  if (low.low > high.high) throw invalid(name, 'takes the earlier date first');
  return [{ highFrom: low.low, lowTo: high.high }];
}

function boxesOf(prefix: Prefix, { low, high }: DateRange, now: number): readonly DateBox[] {
  const within: DateBox = { lowFrom: low, highTo: high };
  switch (prefix) {
    case 'eq':
      return [within];
    case 'ne':
      return [{ lowTo: low - 1 }, { highFrom: high + 1 }];
    case 'gt':
      return [{ highFrom: high + 1 }];
    case 'lt':
      return [{ lowTo: low - 1 }];
    case 'ge':
      return [{ highFrom: high + 1 }, within];
    case 'le':
      return [{ lowTo: low - 1 }, within];
    case 'sa':
      return [{ lowFrom: high + 1 }];
    case 'eb':
      return [{ highTo: low - 1 }];
    case 'ap': {
      const slack = Math.abs(now - (low + high) / 2) * APPROXIMATION;
      return [{ lowTo: Math.round(high + slack), highFrom: Math.round(low - slack) }];
    }
  }
}

function spanOf(name: string, text: string): DateRange {
  const span = sentDateSpanOf(text);
  if (span === undefined) throw invalid(name, 'takes a date or time such as gt2026-01-31T10:00:00Z');
  return span;
}
