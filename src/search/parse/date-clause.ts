import { type DateRange, sentDateSpanOf } from '../../fhir/instant';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type DateBox, type DateClause } from '../query/search-query';
import { type SearchScope, type SentParameter } from './search-scope';
import { invalid, type Prefix, prefixOf, unsupportedModifier } from './values';

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

export const dateClauseOf = (sent: SentParameter, scope: SearchScope): DateClause => ({
  kind: 'date',
  parameterIds: sent.parameter.storedAs,
  boxes: dateAlternativesOf(sent, ['btw', 'missing'], scope),
  ...singularityOf(sent.parameter, scope),
});

/**
 * Whether a date occurs at most once in a resource, and whether it is the main date: the date by which resources of the
 * type are sorted by default. Only a date that occurs once can be the main date (a Timing has many rows). If a type has
 * several dates, the main date is the first parameter.
 */
function singularityOf(
  { parameterId, branches }: SearchParameter,
  { type, parameters }: SearchScope,
): Pick<DateClause, 'isSingle' | 'isMainDate'> {
  const isSingle = branches.every(({ steps }) => steps.every(({ isRepeated }) => !isRepeated));
  return { isSingle, isMainDate: isSingle && parameters.mainDateParameter(type)?.parameterId === parameterId };
}

/**
 * Reads `date=ge2020-01,lt1990` and `date:btw=2020-01,2020-03` as boxes. `:btw` matches each row that overlaps the time
 * from the beginning of the first date to the end of the second.
 * @param known the modifiers that an error about another one names
 */
export function dateAlternativesOf(
  { name, modifier, values }: Omit<SentParameter, 'parameter'>,
  known: readonly string[],
  { now = Date.now() }: SearchScope,
): readonly DateBox[] {
  if (modifier === undefined) return values.flatMap((text) => dateBoxesOf(name, text, now));
  if (modifier !== 'btw') throw unsupportedModifier(name, known);
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
