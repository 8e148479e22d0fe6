/**
 * What waits, in a line for each caller. The callers take turns, so that whoever brings much holds up itself
 * (fair queuing, RFC 970).
 */
export class FairQueue<T> {
  /** By caller; the first line is the next one's. */
  private readonly lines = new Map<string, T[]>();
  private waiting = 0;

  /** How many wait. */
  get size(): number {
    return this.waiting;
  }

  add(caller: string, item: T): void {
    const line = this.lines.get(caller);
    if (line === undefined) this.lines.set(caller, [item]);
    else line.push(item);
    this.waiting++;
  }

  /** Takes the one that has waited longest of the caller whose turn it is; undefined when none waits. */
  take(): T | undefined {
    for (const [caller, line] of this.lines) {
      this.lines.delete(caller);
      const item = line.shift();
      if (line.length > 0) this.lines.set(caller, line);
      this.waiting--;
      return item;
    }
    return undefined;
  }

  /** Takes the last of the longest line; undefined when nobody's would still be longer than that of `caller` with one more. */
  takeFromLongest(caller: string): T | undefined {
    const longest = [...this.lines.values()].reduce<T[]>((one, other) => (other.length > one.length ? other : one), []);
    if (longest.length <= (this.lines.get(caller)?.length ?? 0) + 1) return undefined;
    this.waiting--;
    return longest.pop();
  }
}
