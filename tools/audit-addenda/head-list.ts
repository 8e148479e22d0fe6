import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** The end of one chain, saved outside the database as one line of JSON in a list of heads. */
export interface Head {
  /** `SDCDocument/vitals-1` */
  readonly target: string;
  readonly length: number;
  /** Hash of the last link, in hex. */
  readonly head: string;
}

/** The order of the lists and of the audit: by code unit, independent of the locale. */
export const isBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

/**
 * Reads a list of heads line by line.
 * @throws Error that names a line that is no head, or out of order
 */
export async function* readHeads(path: string): AsyncGenerator<Head, void, void> {
  let number = 0;
  let last = '';
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number++;
    const head = headOf(line);
    if (head === undefined) throw new Error(`${path}, line ${number} is no head: it needs target, length and head.`);
    if (number > 1 && !isBefore(last, head.target)) throw new Error(`${path}, line ${number} is out of order.`);
    last = head.target;
    yield head;
  }
}

function headOf(line: string): Head | undefined {
  try {
    const { target, length, head } = JSON.parse(line) as Partial<Head>;
    const isHead = typeof target === 'string' && Number.isInteger(length) && /^[\da-f]{64}$/.test(String(head));
    return isHead ? { target, length: Number(length), head: String(head) } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes a list of heads to a temporary file; `keep` renames it, so that the list is complete or absent. Two audits at
 * the same time have a file each.
 */
export class HeadWriter {
  private constructor(
    private readonly path: string,
    private readonly writtenPath: string,
    private readonly file: Awaited<ReturnType<typeof open>>,
  ) {}

  static async open(path: string): Promise<HeadWriter> {
    const writtenPath = `${path}.${randomUUID()}.new`;
    return new HeadWriter(path, writtenPath, await open(writtenPath, 'w', 0o600));
  }

  async write(head: Head): Promise<void> {
    await this.file.write(`${JSON.stringify(head)}\n`);
  }

  async keep(): Promise<void> {
    await this.file.sync();
    await this.file.close();
    await rename(this.writtenPath, this.path);
  }

  async drop(): Promise<void> {
    await this.file.close();
    await rm(this.writtenPath);
  }
}
