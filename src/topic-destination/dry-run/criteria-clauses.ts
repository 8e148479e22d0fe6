/** Quoted texts, comments, brackets and words; what lies between does not matter here. */
const PIECES = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*[^]*?\*\/|[()[\]{}]|[A-Za-z_]\w*/g;

/** They bind less tightly than `and`: beside one of them, a part of a conjunction decides nothing. */
const LOOSER = ['or', 'xor', 'implies'];

/**
 * The parts that an expression joins by `and`, in their order: for it to hold, each must. An expression that is no
 * conjunction is its own only part.
 */
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
