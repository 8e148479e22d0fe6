import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import { JsonBodyError } from '../json/json-body-error';

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>;

/** The document itself counts as one level. Deeper bodies would be refused as JSON anyway. */
const MAX_DEPTH = 66;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Other numbers of the core schema of YAML 1.2, which JSON cannot express with the same digits. */
const OTHER_NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['', '~', 'null', 'Null', 'NULL'].map((word) => [word, 'null'])),
  ...Object.fromEntries(['true', 'True', 'TRUE'].map((word) => [word, 'true'])),
  ...Object.fromEntries(['false', 'False', 'FALSE'].map((word) => [word, 'false'])),
};

/**
 * Converts one YAML 1.2 document to compact JSON text. Numbers keep their digits. Duplicate keys, too much depth and
 * forbidden keys are refused later, by the JSON scanner. Anchors, aliases and tags are refused: a body needs none, and
 * aliases can multiply the size of a document.
 * @throws JsonBodyError, whose message never contains a value
 */
export function jsonOfYaml(text: string): string {
  const parts: string[] = [];
  const open: OpenCollection[] = [];
  let documents = 0;
  for (const event of eventsOf(text)) {
    const container = open.at(-1);
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (++documents > 1) throw malformedYaml('More than one YAML document');
        open.push({ closing: '', count: 0 });
        continue;
      case EVENT_ID.POP:
        parts.push(open.pop()?.closing ?? '');
        continue;
      case EVENT_ID.ALIAS:
        throw malformedYaml('YAML aliases are not taken');
      default:
        if (event.anchorStart >= 0 || event.tagStart >= 0) throw malformedYaml('YAML anchors and tags are not taken');
    }
    const isKey = container?.closing === '}' && container.count % 2 === 0;
    if (container !== undefined) parts.push(separatorOf(container));
    if (event.type === EVENT_ID.SCALAR) {
      parts.push(isKey ? JSON.stringify(getScalarValue(text, event)) : scalarOf(text, event));
    } else {
      if (isKey) throw malformedYaml('A YAML key must be a plain or quoted text');
      const isObject = event.type === EVENT_ID.MAPPING;
      parts.push(isObject ? '{' : '[');
      open.push({ closing: isObject ? '}' : ']', count: 0 });
    }
  }
  return parts.join('');
}

interface OpenCollection {
  readonly closing: string;
  /** Values read so far, keys included. */
  count: number;
}

function separatorOf(container: OpenCollection): string {
  const count = container.count++;
  if (count === 0) return '';
  return container.closing === '}' && count % 2 === 1 ? ':' : ',';
}

function scalarOf(text: string, event: ScalarEvent): string {
  const value = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return JSON.stringify(value);
  const word = Object.hasOwn(WORDS, value) ? WORDS[value] : undefined;
  if (word !== undefined) return word;
  if (JSON_NUMBER.test(value)) return value;
  if (OTHER_NUMBER.test(value))
    throw malformedYaml('A YAML number must be written as in JSON, or in quotes as a string');
  return JSON.stringify(value);
}

function eventsOf(text: string): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark } = error;
    if (mark === undefined) throw malformedYaml('Malformed YAML');
    const place = { path: '', line: mark.line + 1, column: mark.column + 1 };
    throw new JsonBodyError('body-malformed', 'Malformed YAML', place);
  }
}

const malformedYaml = (reason: string): JsonBodyError => new JsonBodyError('body-malformed', reason);
