import { tooManyLogins } from './too-many-logins';

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets a few works of one key run at a time; the others wait in line.
 */
export class Turns {
  private readonly lines = new Map<string, Line>();

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  /** @throws ServiceError 'busy' when the line is full */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { running: 0, waiting: [] };
    this.lines.set(key, line);
    if (line.running < this.atOnce) line.running++;
    else if (line.waiting.length < this.mostWaiting) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else throw tooManyLogins();
    try {
      return await work();
    } finally {
      // The turn is handed over by the one that ends it.
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (--line.running === 0) this.lines.delete(key);
    }
  }
}
