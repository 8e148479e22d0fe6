/** The criteria of one type, and the number of the others. Without a type, all criteria are shown. */
export function ofType(
  criteria: readonly string[],
  type: string | undefined,
): { readonly shown: readonly string[]; readonly others: number } {
  if (type === undefined) return { shown: criteria, others: 0 };
  const shown = criteria.filter((criterion) => criterion.split('?', 1)[0] === type);
  return { shown, others: criteria.length - shown.length };
}

/** The distinct paths of `{{path}}` in criteria. */
export const placeholdersIn = (criteria: readonly string[]): readonly string[] => [
  ...new Set(criteria.flatMap((text) => [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, path = '']) => path.trim()))),
];

/** The value at a path as text; `nothing` if there is none. */
export function valueOf(from: unknown, path: string): string {
  let at: unknown = from;
  for (const step of path.split('.')) at = (at as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  return at === undefined || at === null ? 'nothing' : JSON.stringify(at);
}
