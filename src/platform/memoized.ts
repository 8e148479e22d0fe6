/**
 * Keeps what `make` returns for a key, unless that is undefined. Beyond `most` keys it forgets all of them: callers may
 * choose keys, and nothing may grow for ever.
 */
export function memoized<T>(make: (key: string) => T, most = Infinity): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= most) known.clear();
    if (made !== undefined) known.set(key, made);
    return made;
  };
}
