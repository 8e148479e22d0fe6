import { type Profiler, Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface CalledFunction {
  readonly file: string;
  /** The name of the function; empty without one. */
  readonly name: string;
}

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

  /** The functions of the folder that run while `work` does, by `<file>:<offset of the first character>`. */
  async of(work: () => Promise<void>): Promise<ReadonlyMap<string, CalledFunction>> {
    await this.session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    return new Map(result.flatMap((script) => this.calledIn(script)));
  }

  private calledIn({ url, functions }: Profiler.ScriptCoverage): [string, CalledFunction][] {
    if (!url.startsWith(`${pathToFileURL(this.folder).href}/`)) return [];
    const file = relative(this.folder, fileURLToPath(url)).split(sep).join('/');
    return functions
      .filter(({ ranges: [all] }) => all !== undefined && all.count > 0)
      .map(({ functionName, ranges: [all] }) => [`${file}:${all?.startOffset ?? 0}`, { file, name: functionName }]);
  }
}
