/** A resource as it was sent. */
export interface Body {
  readonly resourceType: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

/** From the sending of a request to the end of its answer; `performance.now()`. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A version and when it was written. Without an answer nobody knows whether it is stored. */
interface Version {
  readonly body: Body;
  readonly sentAt: number;
  answeredAt: number | undefined;
}

/** All versions that were written, and when: so it is known for any moment which ones can be stored. Each resource has one writer. */
export class WrittenResources {
  private readonly versions = new Map<string, Version[]>();
  private readonly idsByKey = new Map<string, Set<string>>();

  /** @param keysOf what a version can be searched by, such as `Patient/x` */
  constructor(private readonly keysOf: (body: Body) => readonly string[]) {}

  /** A version that is stored from the beginning on. */
  put(body: Body): void {
    this.add({ body, sentAt: -Infinity, answeredAt: -Infinity });
  }

  /** @returns to be called when the write was answered with success */
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

  /** Resources of which a version has this key. */
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
