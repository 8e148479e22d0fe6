/**
 * The most similar code, whatever its case, and among equals the first by name. At most a third of the letters may
 * differ.
 */
export function nearestCode(mistyped: string, codes: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(mistyped.length / 3));
  const near = [...codes]
    // Codes of a very different length are skipped, so a long parameter name of a caller costs nothing.
    .filter((code) => Math.abs(code.length - mistyped.length) <= limit)
    .map((code) => ({ code, distance: distanceOf(mistyped.toLowerCase(), code.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1));
  return near[0]?.code;
}

/** The sentence that suggests a code, with a space before it. Without a suggestion it is `otherwise`. */
export const didYouMean = (suggested: string | undefined, otherwise = ''): string =>
  suggested === undefined ? otherwise : ` Did you mean "${suggested}"?`;

/**
 * Returns how many letters must at least be inserted, removed, replaced, or swapped with their neighbor, to turn `a`
 * into `b` (optimal string alignment).
 */
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
