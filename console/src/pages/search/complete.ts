import { type Vocabulary } from './vocabulary';

export interface Suggestion {
  /** The whole text of the field after choosing it. */
  readonly text: string;
  /** The meaning of the suggestion, in a few words. */
  readonly note: string;
  /** Whether more text must follow, as after `subject:Patient.`. */
  readonly isOpen?: boolean;
}

const MOST_SUGGESTIONS = 50;

/** The modifiers of each kind of parameter (docs/reference/search.md, "Kinds of parameters"). */
const MODIFIERS: Readonly<Record<string, readonly string[]>> = {
  string: ['exact', 'contains', 'starts', 'ends'],
  token: ['not', 'text', 'in', 'not-in', 'of-type', 'i'],
  reference: ['identifier', 'not'],
  date: ['btw'],
  uri: ['above', 'below', 'not'],
};

/** Parameters that control the answer, and others that `/metadata` does not list. */
const OTHERS: Readonly<Record<string, string>> = {
  _sort: 'order',
  _count: 'matches of a page',
  _total: 'accurate, estimate or none',
  _include: 'with the targets of a reference',
  _revinclude: 'with the sources of a reference',
  _has: 'is named by a resource that …',
  _summary: 'parts of resources',
  _elements: 'members of resources',
  _createdAt: 'time of version 1',
  _ilike: 'words of the text',
  _timeout: 'seconds',
};

/** The syntax of a value of each kind. */
const VALUES: Readonly<Record<string, string>> = {
  string: 'The beginning of a text, in any case.',
  token: 'code, system|code, or |code without a system.',
  reference: 'Type/id, an id, or a URL.',
  date: '2026-01-31, with eq ne gt lt ge le sa eb ap before it.',
  number: 'A number, with eq ne gt lt ge le before it.',
  quantity: 'number, number|system|code, or number||code.',
  uri: 'The whole URI.',
  composite: 'value$value.',
};

/** Completes the name of a parameter: codes, modifiers, chains and `_has`. */
export function completeName(words: Vocabulary, type: string, typed: string): readonly Suggestion[] {
  const { before, at, rest } = endOfChain(words, type, typed);
  if (at === undefined) return [];
  const has = /^_has:(.*)$/s.exec(rest);
  const found = has === null ? codesAndModifiers(words, at, rest) : sourcesOf(words, at, has[1] ?? '');
  return found.slice(0, MOST_SUGGESTIONS).map((one) => ({ ...one, text: before + one.text }));
}

/** Completes values of parameters that have a fixed vocabulary. */
export function completeValue(words: Vocabulary, type: string, name: string, typed: string): readonly Suggestion[] {
  const known = words.types.get(type);
  if (known === undefined) return [];
  const list = (options: readonly string[], note: string): readonly Suggestion[] =>
    options
      .filter(startsWith(typed))
      .slice(0, MOST_SUGGESTIONS)
      .map((text) => ({ text, note }));
  const [code] = name.split(':');
  if (code === '_include') return list(known.includes, 'include');
  if (code === '_revinclude') return list(known.revIncludes, 'reverse include');
  if (name === '_total') return list(['accurate', 'estimate', 'none'], 'total');
  if (name === '_summary') return list(['true', 'text', 'data', 'count', 'false'], 'summary');
  if (name !== '_sort') return [];
  const [, earlier = '', minus = '', last = ''] = /^(.*,)?(-?)([^,]*)$/s.exec(typed) ?? [];
  return [...known.kinds]
    .filter(([parameter]) => startsWith(last)(parameter))
    .slice(0, MOST_SUGGESTIONS)
    .map(([parameter, kind]) => ({
      text: `${earlier}${minus}${parameter}`,
      note: minus === '' ? kind : `${kind}, descending`,
    }));
}

/** The syntax of a parameter's value; undefined for an unknown name. */
export function valueHint(words: Vocabulary, type: string, name: string): string | undefined {
  if (OTHERS[name] !== undefined) return `${OTHERS[name].slice(0, 1).toUpperCase()}${OTHERS[name].slice(1)}.`;
  const { at, rest } = endOfChain(words, type, name);
  const [code = '', modifier] = rest.split(':');
  if (modifier === 'missing') return 'true or false.';
  const kind = at === undefined ? undefined : words.types.get(at)?.kinds.get(code);
  return kind === undefined ? undefined : VALUES[kind];
}

/** The kind of the parameter that a name ends with, also at the end of a chain. */
export function kindOf(words: Vocabulary, type: string, name: string): string | undefined {
  const { at, rest } = endOfChain(words, type, name);
  return at === undefined ? undefined : words.types.get(at)?.kinds.get(rest.split(':')[0] ?? '');
}

interface ChainEnd {
  /** The links of the chain so far, as typed. */
  readonly before: string;
  /** The type at the end of the links; undefined if unknown. */
  readonly at: string | undefined;
  readonly rest: string;
}

/**
 * Follows the links of a typed chain. `subject:Patient.organization.na` leads to the type Organization and the
 * unfinished code `na`, and `_has:Observation:patient:co` to Observation and `co`.
 */
function endOfChain(words: Vocabulary, type: string, name: string): ChainEnd {
  const has = /^_has:([A-Za-z]+):([^:]+):/.exec(name);
  if (has !== null) {
    const [before, source = ''] = has;
    const inner = endOfChain(words, source, name.slice(before.length));
    return { ...inner, before: before + inner.before };
  }
  const dot = name.indexOf('.');
  if (dot <= 0) return { before: '', at: words.types.has(type) ? type : undefined, rest: name };
  const [code = '', named] = name.slice(0, dot).split(':');
  const targets = words.types.get(type)?.kinds.get(code) === 'reference' ? words.targetsOf(type, code) : [];
  const before = name.slice(0, dot + 1);
  const only = targets?.length === 1 ? targets[0] : undefined;
  const at = named ?? only;
  if (at === undefined || !words.types.has(at)) return { before, at: undefined, rest: name.slice(dot + 1) };
  const inner = endOfChain(words, at, name.slice(dot + 1));
  return { ...inner, before: before + inner.before };
}

function codesAndModifiers(words: Vocabulary, type: string, typed: string): readonly Suggestion[] {
  const kinds = words.types.get(type)?.kinds ?? new Map<string, string>();
  const [code = '', modifier] = typed.split(/:(.*)/s);
  if (modifier !== undefined) return modifiersOf(words, type, code, modifier);
  const names = [...kinds].map(([text, kind]): Suggestion => ({ text, note: kind }));
  const others = Object.entries(OTHERS)
    .filter(([text]) => !kinds.has(text))
    .map(([text, note]): Suggestion => (text === '_has' ? { text: '_has:', note, isOpen: true } : { text, note }));
  const matching = [...names, ...others].filter(({ text }) => startsWith(typed)(text));
  const inside = names.filter(({ text }) => !startsWith(typed)(text) && text.includes(typed.toLowerCase()));
  // If the typed code is complete, names that may follow it are suggested, too.
  return [...matching, ...(kinds.has(typed) ? followers(words, type, typed) : []), ...inside];
}

function modifiersOf(words: Vocabulary, type: string, code: string, typed: string): readonly Suggestion[] {
  const kind = words.types.get(type)?.kinds.get(code);
  if (kind === undefined) return [];
  return followers(words, type, code).filter(({ text }) => startsWith(`${code}:${typed}`)(text));
}

/** Modifiers of a code, and for a reference the types with which a chain may continue. */
function followers(words: Vocabulary, type: string, code: string): readonly Suggestion[] {
  const kind = words.types.get(type)?.kinds.get(code) ?? '';
  const modifiers = [...(MODIFIERS[kind] ?? []), ...(kind === 'composite' ? [] : ['missing'])];
  const plain = modifiers.map((modifier): Suggestion => ({ text: `${code}:${modifier}`, note: 'modifier' }));
  if (kind !== 'reference') return plain;
  const targets = words.targetsOf(type, code) ?? [...words.types.keys()];
  return [
    ...targets.map((target): Suggestion => ({ text: `${code}:${target}.`, note: `chain to ${target}`, isOpen: true })),
    ...plain,
  ];
}

/** Suggests sources such as `Observation:patient:`, after `_has:` of Patient. */
function sourcesOf(words: Vocabulary, type: string, typed: string): readonly Suggestion[] {
  return (words.types.get(type)?.revIncludes ?? [])
    .filter(startsWith(typed))
    .map((reference) => ({ text: `_has:${reference}:`, note: 'a resource that names this one', isOpen: true }));
}

const startsWith =
  (typed: string) =>
  (text: string): boolean =>
    text.toLowerCase().startsWith(typed.toLowerCase());
