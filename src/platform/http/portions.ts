import { setImmediate as nextTurn } from 'node:timers/promises';
import { type TextSink } from './send-stream';

/** Characters that are sent at once. */
const CHARACTERS_AT_ONCE = 32 * 1024;

/** Gathers short texts into portions that are worth sending. */
export class Portions {
  private texts: string[] = [];
  private size = 0;

  constructor(private readonly sink: TextSink) {}

  async add(texts: Iterable<string>): Promise<void> {
    for (const text of texts) {
      this.texts.push(text);
      this.size += text.length;
      if (this.size >= CHARACTERS_AT_ONCE) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const text = this.texts.join('');
    this.texts = [];
    this.size = 0;
    await this.sink.write(text);
    // A caller who reads fast never makes a write wait, and others would.
    await nextTurn();
  }
}
