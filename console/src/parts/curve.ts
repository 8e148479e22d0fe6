interface Curve {
  /** SVG path of the curve itself. It has gaps where a value is unknown. */
  readonly line: string;
  /** SVG path of the area below the curve. */
  readonly area: string;
}

/** A curve that begins at 0, in a box of `height` with one unit of width between two values. */
export function curveOf(values: readonly (number | null)[], height: number): Curve {
  const most = Math.max(0, ...values.map((value) => value ?? 0)) || 1;
  const runs: { readonly from: number; readonly points: string[] }[] = [];
  values.forEach((value, x) => {
    if (value === null) return;
    const point = `${x} ${(height * (1 - value / most)).toFixed(2)}`;
    if (x === 0 || values[x - 1] === null) runs.push({ from: x, points: [point] });
    else runs.at(-1)?.points.push(point);
  });
  return {
    line: runs.map(({ points }) => `M${points.join('L')}`).join(''),
    area: runs
      .map(({ from, points }) => `M${from} ${height}L${points.join('L')}L${from + points.length - 1} ${height}z`)
      .join(''),
  };
}
