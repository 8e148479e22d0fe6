/** The probable meaning of a mistyped code: at most a third of its letters differ, the nearest first, then by name. */
export function nearestCode(mistyped: string, codes: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(mistyped.length / 3));
  const near = [...codes]
    // Longer texts have no near code, so a long parameter name of a caller costs nothing.
    .filter((code) => Math.abs(code.length - mistyped.length) <= limit)
    .map((code) => ({ code, distance: distanceOf(mistyped, code) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1));
  return near[0]?.code;
}

/** The minimum number of letters to insert, remove, replace or swap with their neighbor (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
