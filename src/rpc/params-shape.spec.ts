import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Type as InstanceOf } from 'class-transformer';
import { IsArray, IsString, ValidateNested } from 'class-validator';
import { ParamsShape } from './params-shape';

class Bed {
  @IsString()
  ward!: string;

  @ValidateNested()
  @InstanceOf(() => Bed)
  next?: Bed;
}

class Beds {
  @ValidateNested()
  @InstanceOf(() => Bed)
  first!: Bed;

  @ValidateNested({ each: true })
  @InstanceOf(() => Bed)
  others!: Bed[];

  @IsArray()
  tags!: unknown[];
}

const read = (sent: object): Partial<Beds> => ParamsShape.of(Beds).instanceOf(sent as Record<string, unknown>);

describe(ParamsShape, () => {
  it('creates instances of the named classes at each level', () => {
    const bed = (ward: string): object => Object.assign(new Bed(), { ward });
    const params = read({
      first: { ward: '1', next: { ward: '2', x: 1 }, x: 1 },
      others: [{ ward: '3', x: 1 }, 'no bed'],
      x: 1,
      constructor: 1,
    });
    expect(params).toBeInstanceOf(Beds);
    expect(params.first?.next).toBeInstanceOf(Bed);
    expect(params).toEqual({ first: { ...bed('1'), next: bed('2') }, others: [bed('3'), 'no bed'] });
    expect(Object.hasOwn(params, 'constructor')).toBe(false);
  });

  it('returns other values unchanged, without reading them', () => {
    const tags = Array.from({ length: 100_000 }, () => ({ a: [] }));
    expect(read({ tags }).tags).toBe(tags);
  });

  it.each([[[1, 2]], [[{ ward: '1' }]], [[]]])(
    'returns an empty list for a list in place of an object: %j',
    (first) => {
      expect(read({ first }).first).toEqual([]);
    },
  );

  it.each([null, 1, 'text', true])('returns %j in place of an object unchanged', (first) => {
    expect(read({ first }).first).toBe(first);
  });
});
