import { type Statements } from '../../../src/platform/database/statements';
import { type Random } from '../../chart/random';

/** Resources of each type sampled from the whole database, as sources of search values. */
export class SampledResources {
  private constructor(
    private readonly bodies: ReadonlyMap<string, readonly unknown[]>,
    private readonly random: Random,
  ) {}

  static async take(statements: Statements, types: readonly string[], random: Random): Promise<SampledResources> {
    const bodies = new Map<string, readonly unknown[]>();
    for (const type of types) {
      const rows = await statements.run<{ body: string }>(
        { name: '', text: 'select body from resource where type = $1 order by hashint8(resource_key) limit 300' },
        [type],
      );
      bodies.set(
        type,
        rows.map(({ body }) => JSON.parse(body) as unknown),
      );
    }
    return new SampledResources(bodies, random);
  }

  /** A value at a path, from a random resource that has a value there. */
  text(type: string, ...path: readonly (string | number)[]): string {
    for (;;) {
      const found = path.reduce(memberOf, this.random.pick(this.bodies.get(type) ?? []));
      if (typeof found === 'string' || typeof found === 'number') return String(found);
    }
  }

  /** A random resource of a type that satisfies `fits`. */
  one(
    type: string,
    fits: (resource: Readonly<Record<string, unknown>>) => boolean,
  ): (...path: readonly (string | number)[]) => string {
    for (;;) {
      const found = this.random.pick(this.bodies.get(type) ?? []) as Readonly<Record<string, unknown>>;
      if (fits(found)) return (...path) => String(path.reduce<unknown>(memberOf, found));
    }
  }
}

const memberOf = (value: unknown, step: string | number): unknown =>
  (value as Readonly<Record<string | number, unknown>> | undefined)?.[step];
