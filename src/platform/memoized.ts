/**
 * Returns `make` with a cache: the result for a key is made once, unless it is undefined. When there are more than
 * `most` keys, the cache is cleared. Callers may choose the keys, so memory must stay bounded.
 */
export function memoized<T, Key = string>(make: (key: Key) => T, most = Infinity): (key: Key) => T {
  const known = new Map<Key, T>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= most) known.clear();
    if (made !== undefined) known.set(key, made);
    return made;
  };
}

/** Adds the newest entry of a cache. Beyond `most` entries, the oldest is dropped. */
export function putNewest<Key, T>(cache: Map<Key, T>, key: Key, value: T, most: number): void {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > most && oldest !== undefined) cache.delete(oldest);
}
