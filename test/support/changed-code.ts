import { join } from 'node:path';

/** A text in a compiled file of the server, and the text that replaces it when the server loads the file. */
export interface CodeChange {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The settings of a server with changed code. It does not start if the text to change is missing. */
export const withChanges = (...changes: readonly CodeChange[]): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${JSON.stringify(join(__dirname, 'changed-code.cjs'))}`,
  TEST_CHANGES: JSON.stringify(changes.map(({ file, from, to }) => ({ file, from, to }))),
});

/** Changes a constant of a file, so that a spec does not wait for the usual time. */
export const constant = (file: string, name: string, [from, to]: readonly [from: string, to: string]): CodeChange => ({
  file,
  from: `const ${name} = ${from};`,
  to: `const ${name} = ${to};`,
});
