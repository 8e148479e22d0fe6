import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Reads the options of a tool. `--help` prints `usage` and the options and ends the process with 0. Options or arguments
 * that the tool does not take end it with 2, after one line that says what is wrong and one that lists the options.
 * @param usage how the tool is called and what it does
 * @param config as for `parseArgs` of Node
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

const shown = ([name, { type }]: [string, { readonly type: string }]): string =>
  type === 'string' ? `--${name}=<value>` : `--${name}`;

/** The rest tells how to pass an option as an argument, which nobody wants here. */
const firstSentenceOf = (error: unknown): string =>
  `${(error instanceof Error ? error.message : '').split('. ')[0] ?? ''}.`;
