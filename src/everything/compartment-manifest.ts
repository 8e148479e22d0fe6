import { answerParameters, type AnswerValues } from '../operation/operation';
import { type CompartmentQuery } from './plan/compartment-query';
import { type CompartmentReader } from './read/compartment-reader';
import { type Tally, tallyOf } from './read/tally';
import { type EverythingCall } from './request/everything-call';

const PARTS = {
  complete: 'boolean',
  count: 'integer',
  bytes: 'decimal',
  type: { code: 'code', count: 'integer', bytes: 'decimal', 'left-out': { by: 'code', count: 'integer' } },
  included: { count: 'integer', bytes: 'decimal' },
  'left-out': { by: 'code', code: 'code' },
} as const;

/** The numbers of a type. `left-out` counts the entries that a parameter excludes, by that parameter. */
interface TypeCounts extends AnswerValues<typeof PARTS.type> {
  readonly count: number;
  readonly bytes: number;
  readonly 'left-out': readonly { readonly by: '_type' | '_since' | 'dates'; readonly count: number }[];
}

/** @returns a Parameters resource as JSON text (docs/reference/everything.md, "Manifest") */
export async function manifestOf(
  { query, hiddenTypes, request }: EverythingCall,
  reader: CompartmentReader,
): Promise<string> {
  const { timeoutSeconds: seconds } = request;
  const all = { ...query, types: undefined, since: undefined, period: undefined, included: undefined };
  const tallies = await reader.within(all, { seconds }, async (snapshot, parts) => {
    const found = new Map<string, Tally>();
    // Two query parts have the type Patient: the patient itself, and other Patients that link to it.
    for (const part of parts(all))
      found.set(part.label, sumOf(found.get(part.label), await tallyOf(snapshot, part, query)));
    const included = query.included && [...parts(query)].find(({ mode }) => mode === 'include');
    return { found, included: included && (await tallyOf(snapshot, included)) };
  });
  // Types without entries are omitted: a zero would reveal entries which the caller may not see.
  const types = [...tallies.found]
    .filter(([, tally]) => tally.all > 0)
    .map(([type, tally]) => typeOf(type, tally, query));
  const sum = (of: (counts: TypeCounts) => number): number => types.reduce((total, counts) => total + of(counts), 0);
  const hidden = query.limit && hiddenTypes;
  const parameters = answerParameters(PARTS, {
    complete: hidden === undefined && types.every((counts) => counts['left-out'].length === 0),
    count: sum(({ count }) => count),
    bytes: sum(({ bytes }) => bytes),
    type: types,
    included: tallies.included,
    // Only the hidden types are named: a number would reveal how many entries the caller may not see.
    'left-out': hidden && { by: 'rights', code: hidden },
  });
  return JSON.stringify(parameters);
}

function typeOf(type: string, { all, recent, count, bytes }: Tally, { types }: CompartmentQuery): TypeCounts {
  if (types?.has(type) === false) return { code: type, count: 0, bytes: 0, 'left-out': [{ by: '_type', count: all }] };
  const leftOut = [{ by: '_since', count: all - recent } as const, { by: 'dates', count: recent - count } as const];
  return { code: type, count, bytes, 'left-out': leftOut.filter((one) => one.count > 0) };
}

const sumOf = (a: Tally | undefined, b: Tally): Tally =>
  a ? { all: a.all + b.all, recent: a.recent + b.recent, count: a.count + b.count, bytes: a.bytes + b.bytes } : b;
