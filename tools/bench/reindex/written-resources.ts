/** A resource as sent. */
export interface Body {
  readonly resourceType: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

/** The time from sending a request to the end of its response, in `performance.now()`. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A version and when it was written. Without a response, it may or may not be stored. */
interface Version {
  readonly body: Body;
  readonly sentAt: number;
  answeredAt: number | undefined;
}

/**
 * All written versions with their times, so the possible stored versions are known for any moment. Each resource has
 * one writer.
 */
export class WrittenResources {
  private readonly versions = new Map<string, Version[]>();
  private readonly idsByKey = new Map<string, Set<string>>();

  /** @param keysOf keys that a version can be searched by, such as `Patient/x` */
  constructor(private readonly keysOf: (body: Body) => readonly string[]) {}

  /** Adds a version that is stored from the beginning. */
  put(body: Body): void {
    this.add({ body, sentAt: -Infinity, answeredAt: -Infinity });
  }

  /** @returns a function to call when the write was answered with success */
  write(body: Body, sentAt: number): (answeredAt: number) => void {
    const version: Version = { body, sentAt, answeredAt: undefined };
    this.add(version);
    return (answeredAt) => {
      version.answeredAt = answeredAt;
    };
  }

  /** The versions that a request of this period may find, each at some moment of it. */
  possible(id: string, { from, to }: Period): readonly Body[] {
    const found: Body[] = [];
    const versions = this.versions.get(id) ?? [];
    for (let n = versions.length - 1; n >= 0; n--) {
      const version = versions[n];
      if (version === undefined || version.sentAt > to) continue;
      found.push(version.body);
      if (version.answeredAt !== undefined && version.answeredAt <= from) break;
    }
    return found;
  }

  /** Resources with this key in any version. */
  idsWith(key: string): ReadonlySet<string> {
    return this.idsByKey.get(key) ?? new Set();
  }

  private add(version: Version): void {
    const { body } = version;
    const versions = this.versions.get(body.id);
    if (versions === undefined) this.versions.set(body.id, [version]);
    else versions.push(version);
    for (const key of this.keysOf(body)) {
      const ids = this.idsByKey.get(key);
      if (ids === undefined) this.idsByKey.set(key, new Set([body.id]));
      else ids.add(body.id);
    }
  }
}
