import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A code block of a page. Its first line is "# <how-to>: <step>". It may be inside a list. */
const BLOCK = /^( *)```sh\n *# ([\w-]+): [^\n]*\n([\s\S]*?)^ *```$/gm;

/**
 * Runs a bash script; fails if one of its commands fails.
 * @returns its standard output
 */
export type Run = (script: string) => Promise<string>;

/** Runs the blocks of one how-to, one per call. */
export class HowTo {
  private next = 0;

  private constructor(
    private readonly page: string,
    private readonly blocks: readonly string[],
    private readonly run: Run,
  ) {}

  /** @param page below docs/how-to */
  static async of(page: string, name: string, run: Run): Promise<HowTo> {
    const path = join('docs', 'how-to', page);
    const found = [...(await readFile(path, 'utf8')).matchAll(BLOCK)].filter(([, , howTo]) => howTo === name);
    return new HowTo(
      path,
      found.map(([, indent = '', , script = '']) => script.replaceAll(new RegExp(`^${indent}`, 'gm'), '')),
      run,
    );
  }

  async step(): Promise<string> {
    const script = this.blocks[this.next++];
    if (script === undefined) throw new Error(`${this.page} has no step ${this.next} there.`);
    return this.run(script);
  }

  /**
   * Runs all steps.
   * @throws Error if one of them prints nothing: its output is meant to be read
   */
  async look(): Promise<void> {
    if (this.blocks.length === 0) throw new Error(`${this.page} has no such how-to.`);
    while (this.next < this.blocks.length)
      if ((await this.step()).trim() === '')
        throw new Error(`${this.page}: this prints nothing:\n${this.blocks[this.next - 1] ?? ''}`);
  }
}
