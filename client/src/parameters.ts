export interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
}

/**
 * The values of parts by their names. Names in `lists` may repeat, and their values are arrays. The type of the result
 * is the one that the server documents for these parts; it is not checked.
 */
export function valuesOf<Values = Record<string, unknown>>(
  parts: readonly Part[] = [],
  lists: readonly string[] = [],
): Values {
  const values: Record<string, unknown> = Object.fromEntries(
    lists.filter((name) => parts.some((part) => part.name === name)).map((name) => [name, [] as unknown[]]),
  );
  for (const part of parts) {
    const value = part.part === undefined ? valueOf(part) : valuesOf(part.part, lists);
    const list = values[part.name];
    if (Array.isArray(list)) list.push(value);
    else values[part.name] = value;
  }
  return values as Values;
}

const valueOf = (part: Part): unknown =>
  Object.entries(part).find(([name]) => name.startsWith('value'))?.[1] as unknown;
