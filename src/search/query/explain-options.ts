import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { type ServiceError } from '../../platform/errors/service-error';

/** Options of the command `EXPLAIN` (https://www.postgresql.org/docs/current/sql-explain.html). */
export interface ExplainOptions {
  /** The text between the parentheses of EXPLAIN. It holds only words of a fixed list, no SQL of a caller. */
  readonly sql: string;
  readonly isJson: boolean;
}

const CHOICES = ['analyze', 'buffers', 'costs', 'timing'] as const;
const WORDS = ['plan', 'format-json', ...CHOICES, ...CHOICES.map((word) => `no-${word}`)];

/**
 * Reads `_explain`: `1` and `true` mean EXPLAIN ANALYZE; `0`, `false` and an empty value mean no plan. Otherwise it is
 * a comma-separated list of {@link WORDS}.
 * @throws ServiceError 'invalid' with the list of words
 */
export function explainOptionsOf(query: URLSearchParams): ExplainOptions | undefined {
  const text = query.get('_explain') ?? '';
  if (text === '' || text === '0' || text === 'false') return undefined;
  const words = text === '1' || text === 'true' ? [] : text.split(',');
  const unknown = words.find((word) => !WORDS.includes(word));
  if (unknown !== undefined) throw badExplain(`"${unknown.slice(0, 32)}" is none of 1, 0, ${WORDS.join(', ')}`);
  const asked = new Set(words.map((word) => (word === 'plan' ? 'no-analyze' : word)));
  for (const word of CHOICES)
    if (asked.has(word) && asked.has(`no-${word}`)) throw badExplain(`"${word}" and its opposite exclude each other`);
  const isAnalyzed = !asked.has('no-analyze');
  if (!isAnalyzed && asked.has('timing')) throw badExplain('"timing" needs "analyze"');
  const isJson = asked.has('format-json');
  const isOn = (word: string): boolean =>
    asked.has(word) || (!asked.has(`no-${word}`) && (isAnalyzed || word === 'costs'));
  const choices = CHOICES.map((word) => `${word} ${isOn(word) ? 'on' : 'off'}`);
  return { sql: [...choices, ...(isJson ? ['format json'] : [])].join(', '), isJson };
}

const badExplain = (why: string): ServiceError => parameterInvalid(`_explain: ${why}.`);
