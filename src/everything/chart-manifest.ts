import { Injectable } from '@nestjs/common';
import { type Snapshot } from '../platform/database/snapshots';
import { type ChartQuery, type Portion, portionsOf } from './chart-plan';
import { NOTHING, type Tally, tallyOf } from './chart-tally';
import { LargeCharts } from './large-charts';

interface TypeTally extends Tally {
  readonly type: string;
  /** What is not in the answer, by the parameter that left it out. */
  readonly leftOut: readonly { readonly by: '_type' | '_since' | 'dates'; readonly count: number }[];
}

/** Tells what an answer would hold, without its resources (`_manifest`). */
@Injectable()
export class ChartManifest {
  constructor(private readonly charts: LargeCharts) {}

  /** @returns a Parameters resource as JSON text (docs/everything.md, "Manifest") */
  async of(query: ChartQuery, seconds: number): Promise<string> {
    const types: TypeTally[] = [];
    let included: Tally | undefined;
    const whole = { ...query, types: undefined, since: undefined, filter: { ...query.filter, period: undefined } };
    await this.charts.visit(
      { ...whole, linked: undefined },
      { seconds },
      async (snapshot, portion) => {
        types.push(...(await this.tally(snapshot, query, portion)));
      },
      async (snapshot) => {
        const last = portionsOf(query).at(-1);
        if (last?.mode === 'include') included = await tallyOf(snapshot, last);
      },
    );
    // A type without anything would say that there is something that the caller may not see.
    const told = merged(types).filter(({ count, leftOut: out }) => count > 0 || out.length > 0);
    return JSON.stringify(parametersOf(told, included, query.filter.limit !== undefined));
  }

  /** Counts all of a type, then what each filter leaves of it. */
  private async tally(snapshot: Snapshot, query: ChartQuery, all: Portion): Promise<readonly TypeTally[]> {
    const { since, filter } = query;
    const type = all.label;
    const whole = await tallyOf(snapshot, all);
    if (query.types?.has(type) === false) return [{ type, ...NOTHING, leftOut: leftOut('_type', whole.count) }];
    const narrowed = (more: Partial<ChartQuery>): Promise<Tally> => {
      const found = portionsOf({ ...query, ...more, types: new Set([type]), linked: undefined }).filter(
        (one) => all.isPatient === one.isPatient,
      );
      return found[0] === undefined ? Promise.resolve(NOTHING) : tallyOf(snapshot, found[0]);
    };
    const recent = since === undefined ? whole : await narrowed({ filter: { ...filter, period: undefined } });
    const kept = filter.period === undefined ? recent : await narrowed({});
    return [
      {
        type,
        ...kept,
        leftOut: [...leftOut('_since', whole.count - recent.count), ...leftOut('dates', recent.count - kept.count)],
      },
    ];
  }
}

const leftOut = (by: TypeTally['leftOut'][number]['by'], count: number): TypeTally['leftOut'] =>
  count === 0 ? [] : [{ by, count }];

/** The patient itself and those who link to it are of one type. */
function merged(tallies: readonly TypeTally[]): readonly TypeTally[] {
  const byType = new Map<string, TypeTally>();
  for (const tally of tallies) {
    const before = byType.get(tally.type);
    byType.set(tally.type, before === undefined ? tally : sumOf(before, tally));
  }
  return [...byType.values()];
}

function sumOf(a: TypeTally, b: TypeTally): TypeTally {
  const leftOutOf = new Map(a.leftOut.map(({ by, count }) => [by, count]));
  for (const { by, count } of b.leftOut) leftOutOf.set(by, (leftOutOf.get(by) ?? 0) + count);
  return {
    type: a.type,
    count: a.count + b.count,
    bytes: a.bytes + b.bytes,
    leftOut: [...leftOutOf].map(([by, count]) => ({ by, count })),
  };
}

function parametersOf(types: readonly TypeTally[], included: Tally | undefined, isLimited: boolean): object {
  const sum = (of: (tally: Tally) => number): number => types.reduce((total, tally) => total + of(tally), 0);
  const isComplete = !isLimited && types.every((tally) => tally.leftOut.length === 0);
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'complete', valueBoolean: isComplete },
      { name: 'count', valueInteger: sum(({ count }) => count) },
      { name: 'bytes', valueDecimal: sum(({ bytes }) => bytes) },
      ...types.map(({ type, leftOut: out, ...tally }) => ({
        name: 'type',
        part: [
          { name: 'code', valueCode: type },
          ...partsOf(tally),
          ...out.map(({ by, count }) => ({
            name: 'left-out',
            part: [
              { name: 'by', valueCode: by },
              { name: 'count', valueInteger: count },
            ],
          })),
        ],
      })),
      ...(included === undefined ? [] : [{ name: 'included', part: partsOf(included) }]),
      // How much it is would tell of what the caller may not see.
      ...(isLimited ? [{ name: 'left-out', part: [{ name: 'by', valueCode: 'rights' }] }] : []),
    ],
  };
}

const partsOf = ({ count, bytes }: Tally): readonly object[] => [
  { name: 'count', valueInteger: count },
  { name: 'bytes', valueDecimal: bytes },
];
