export interface Part {
  readonly name: string;
  readonly [value: string]: unknown;
}

type Value = number | string | boolean | null | undefined;

export const valuePart = (name: string, value: Value, type = typeOf(value)): Part[] =>
  value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))
    ? []
    : [{ name, [`value${type}`]: value }];

export const group = (name: string, values: Readonly<Record<string, Value>>, others: readonly Part[] = []): Part => ({
  name,
  part: [...Object.entries(values).flatMap(([key, value]) => valuePart(key, value)), ...others],
});

function typeOf(value: Value): string {
  if (typeof value === 'string') return 'String';
  return typeof value === 'boolean' ? 'Boolean' : 'Decimal';
}
