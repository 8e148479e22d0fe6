/** The list grows in place: a copy for each item would take quadratic time. */
export function addTo<Key, T>(lists: Map<Key, T[]>, key: Key, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
