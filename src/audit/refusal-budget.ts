/** Maximum number of records per address and minute: a flood must not fill the database. */
const MOST_PER_MINUTE = 60;
const MOST_ADDRESSES = 10_000;
const MINUTE = 60_000;

/** Limits the number of AuditEvents that callers without valid credentials can cause. */
export class RefusalBudget {
  private readonly counts = new Map<string, number>();
  private minute = 0;

  /** Returns whether the address may have one more record, and whether it is its last one of this minute. */
  take(address: string, now: Date): { readonly isGranted: boolean; readonly isLast: boolean } {
    const minute = Math.floor(now.getTime() / MINUTE);
    if (minute !== this.minute) this.counts.clear();
    this.minute = minute;
    const count = (this.counts.get(address) ?? 0) + 1;
    if (count > MOST_PER_MINUTE || (count === 1 && this.counts.size >= MOST_ADDRESSES))
      return { isGranted: false, isLast: false };
    this.counts.set(address, count);
    return { isGranted: true, isLast: count === MOST_PER_MINUTE };
  }
}
