import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Reads the options of a tool. `--help` prints `usage` and the options, and exits with 0. Unknown options or arguments
 * exit with 2, after one line with the error and one with the options.
 * @param usage how to call the tool, and its purpose
 * @param config as for Node's `parseArgs`
 */
export function readOptions<const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const taken = [...Object.entries(config.options ?? {}).map(shown), '--help'].join(', ');
  const sent = process.argv.slice(2);
  const end = sent.indexOf('--');
  if ((end < 0 ? sent : sent.slice(0, end)).includes('--help')) {
    process.stdout.write(`${usage.trim()}\n\nOptions: ${taken}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${firstSentenceOf(error)}\nOptions: ${taken}\n`);
    process.exit(2);
  }
}

/**
 * The line of a usage that shows how to call a tool for operators: from the repository, the npm package and the image.
 * Without `-s`, npm writes its own lines to stdout, so the heads of audit-addenda could not be read again.
 */
export const callsOf = (tool: string): string =>
  `Call: npm run -s ${tool} --, npx svc-health-server ${tool}, node dist/tools/${tool}/${tool}.js`;

const shown = ([name, { type }]: [string, { readonly type: string }]): string =>
  type === 'string' ? `--${name}=<value>` : `--${name}`;

/**
 * The first sentence of an error. Node's other sentences explain how to pass an option as an argument, which these
 * tools do not need.
 */
const firstSentenceOf = (error: unknown): string =>
  `${(error instanceof Error ? error.message : '').split('. ')[0] ?? ''}.`;
