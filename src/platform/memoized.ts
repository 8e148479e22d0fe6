/**
 * Caches the result of `make` for a key, unless it is undefined. Beyond `most` keys, the cache is cleared: callers may
 * choose keys, and memory must stay bounded.
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
