import { type Profiler, Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Counts the calls of functions of this process by V8's precise coverage. */
export class FunctionCoverage {
  private readonly session = new Session();

  /** @param folder of the compiled code that counts */
  constructor(private readonly folder: string) {}

  async start(): Promise<void> {
    this.session.connect();
    await this.session.post('Profiler.enable');
    await this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  stop(): void {
    this.session.disconnect();
  }

  /** The functions of the folder that run while `work` does, each as `<file>:<offset of its first character>`. */
  async of(work: () => Promise<void>): Promise<ReadonlySet<string>> {
    await this.session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    return new Set(result.flatMap((script) => this.calledIn(script)));
  }

  private calledIn({ url, functions }: Profiler.ScriptCoverage): string[] {
    if (!url.startsWith(`${pathToFileURL(this.folder).href}/`)) return [];
    const file = relative(this.folder, fileURLToPath(url)).split(sep).join('/');
    return functions
      .flatMap(({ ranges }) => ranges.slice(0, 1))
      .filter(({ count }) => count > 0)
      .map(({ startOffset }) => `${file}:${startOffset}`);
  }
}
