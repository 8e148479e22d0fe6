import { Injectable } from '@nestjs/common';
import { type CompartmentQuery } from './plan/compartment-query';
import { CompartmentReader } from './read/compartment-reader';
import { type Tally, tallyOf } from './read/tally';
import { type EverythingCall } from './request/everything-call';

/** Returns the size of an answer instead of its resources (`_manifest`). */
@Injectable()
export class CompartmentManifest {
  constructor(private readonly reader: CompartmentReader) {}

  /** @returns a Parameters resource as JSON text (docs/reference/everything.md, "Manifest") */
  async of({ query, hiddenTypes, request }: EverythingCall): Promise<string> {
    const { timeoutSeconds: seconds } = request;
    const all = { ...query, types: undefined, since: undefined, period: undefined, included: undefined };
    const tallies = await this.reader.within(all, { seconds }, async (snapshot, parts) => {
      const found = new Map<string, Tally>();
      // Two query parts have the type Patient: the patient itself, and other Patients that link to it.
      for (const part of parts(all))
        found.set(part.label, sumOf(found.get(part.label), await tallyOf(snapshot, part, query)));
      const included = query.included && [...parts(query)].find(({ mode }) => mode === 'include');
      return { found, included: included && (await tallyOf(snapshot, included)) };
    });
    // Types without entries are omitted. A zero for them would reveal that there are entries which the caller may not
    // see.
    const types = [...tallies.found]
      .filter(([, tally]) => tally.all > 0)
      .map(([type, tally]) => typeOf(type, tally, query));
    return JSON.stringify(manifestParametersOf(types, tallies.included, query.limit && hiddenTypes));
  }
}

interface TypeCounts {
  readonly type: string;
  readonly count: number;
  readonly bytes: number;
  /** How many entries are not in the answer, by the parameter that excludes them. */
  readonly leftOut: readonly (readonly [by: '_type' | '_since' | 'dates', count: number])[];
}

function typeOf(type: string, { all, recent, count, bytes }: Tally, { types }: CompartmentQuery): TypeCounts {
  if (types?.has(type) === false) return { type, count: 0, bytes: 0, leftOut: [['_type', all]] };
  const leftOut = [['_since', all - recent] as const, ['dates', recent - count] as const];
  return { type, count, bytes, leftOut: leftOut.filter(([, number]) => number > 0) };
}

const sumOf = (a: Tally | undefined, b: Tally): Tally =>
  a === undefined
    ? b
    : { all: a.all + b.all, recent: a.recent + b.recent, count: a.count + b.count, bytes: a.bytes + b.bytes };

function manifestParametersOf(
  types: readonly TypeCounts[],
  included: Pick<Tally, 'count' | 'bytes'> | undefined,
  hiddenTypes: readonly string[] | undefined,
): object {
  const sum = (of: (counts: TypeCounts) => number): number => types.reduce((total, counts) => total + of(counts), 0);
  return {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'complete',
        valueBoolean: hiddenTypes === undefined && types.every(({ leftOut }) => leftOut.length === 0),
      },
      { name: 'count', valueInteger: sum(({ count }) => count) },
      { name: 'bytes', valueDecimal: sum(({ bytes }) => bytes) },
      ...types.map((counts) => ({
        name: 'type',
        part: [
          codePart(counts.type),
          ...partsOfTally(counts),
          ...counts.leftOut.map(([by, count]) => ({
            name: 'left-out',
            part: [
              { name: 'by', valueCode: by },
              { name: 'count', valueInteger: count },
            ],
          })),
        ],
      })),
      ...(included === undefined ? [] : [{ name: 'included', part: partsOfTally(included) }]),
      // Only the hidden types are named: a number would reveal how many entries the caller may not see.
      ...(hiddenTypes === undefined
        ? []
        : [{ name: 'left-out', part: [{ name: 'by', valueCode: 'rights' }, ...hiddenTypes.map(codePart)] }]),
    ],
  };
}

const codePart = (type: string): object => ({ name: 'code', valueCode: type });

const partsOfTally = ({ count, bytes }: Pick<Tally, 'count' | 'bytes'>): readonly object[] => [
  { name: 'count', valueInteger: count },
  { name: 'bytes', valueDecimal: bytes },
];
