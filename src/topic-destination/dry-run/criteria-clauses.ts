/** The pieces of an expression that matter for splitting it: quoted texts, comments, brackets and words. */
const PIECES = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*[^]*?\*\/|[()[\]{}]|[A-Za-z_]\w*/g;

/** Operators that bind less tightly than `and`: with one at the top level, no clause alone has to be true. */
const LOOSER = ['or', 'xor', 'implies'];

/** Returns the clauses that an expression joins by a top-level `and`, in order. There may be only one. */
export function clausesOf(expression: string): readonly string[] {
  const cuts: { readonly start: number; readonly end: number }[] = [];
  let depth = 0;
  for (const { 0: piece, index } of expression.matchAll(PIECES)) {
    if ('([{'.includes(piece)) depth += 1;
    else if (')]}'.includes(piece)) depth -= 1;
    else if (depth === 0 && LOOSER.includes(piece)) return [expression.trim()];
    else if (depth === 0 && piece === 'and') cuts.push({ start: index, end: index + piece.length });
  }
  const starts = [0, ...cuts.map(({ end }) => end)];
  return starts.map((start, place) => expression.slice(start, cuts[place]?.start).trim());
}
