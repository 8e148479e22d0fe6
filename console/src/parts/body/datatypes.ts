import { JsonNumber, type JsonObject, type JsonValue } from '../../../../src/platform/json/lossless';

/** A value in one line. */
export interface Shown {
  readonly text: string;
  /** Parts that the text omits, such as the code and its system. */
  readonly note?: string;
  /** `Type/id` of a resource on this server, or the reference as written. */
  readonly reference?: string;
}

const isObject = (value: JsonValue | undefined): value is JsonObject => value instanceof Map;

/** A string, number or boolean as text. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : undefined;
}

const textIn = (object: JsonObject, key: string): string | undefined => scalarText(object.get(key));

const listIn = (object: JsonObject, key: string): readonly JsonValue[] => {
  const value = object.get(key);
  return Array.isArray(value) ? value : [];
};

const textsIn = (object: JsonObject, key: string): readonly string[] =>
  listIn(object, key).flatMap((item) => scalarText(item) ?? []);

const joined = (texts: readonly (string | undefined)[], by = ' '): string =>
  texts.filter((text) => text !== undefined && text !== '').join(by);

interface Datatype {
  /** All allowed keys of a value, in addition to `id` and `extension`. */
  readonly keys: readonly string[];
  /** A value must have one of these keys. */
  readonly needs: readonly string[];
  readonly show: (value: JsonObject) => Shown;
}

const withNote = (text: string, note: string | undefined): Shown =>
  note === undefined || note === '' || note === text ? { text } : { text, note };

const codingText = (coding: JsonObject): string => textIn(coding, 'display') ?? textIn(coding, 'code') ?? '';
const codingNote = (coding: JsonObject): string => joined([textIn(coding, 'system'), textIn(coding, 'code')], '|');

export const periodText = (period: JsonObject): string => {
  const [start, end] = [textIn(period, 'start'), textIn(period, 'end')];
  if (start === undefined) return end === undefined ? '' : `until ${end}`;
  return end === undefined ? `since ${start}` : `${start} to ${end}`;
};

const quantityText = (quantity: JsonObject): string =>
  joined([
    textIn(quantity, 'comparator'),
    textIn(quantity, 'value'),
    textIn(quantity, 'unit') ?? textIn(quantity, 'code') ?? textIn(quantity, 'currency'),
  ]);

const nestedText = (object: JsonObject, key: string): string | undefined => {
  const value = object.get(key);
  return value === undefined ? undefined : shownOf(value)?.text;
};

/** FHIR's data types by their members. The first type that fits a value formats it. */
const DATATYPES: readonly Datatype[] = [
  {
    keys: ['value', 'comparator', 'unit', 'system', 'code'],
    needs: ['unit', 'comparator'],
    show: (value) => withNote(quantityText(value), codingNote(value)),
  },
  { keys: ['value', 'currency'], needs: ['currency'], show: (value) => ({ text: quantityText(value) }) },
  {
    keys: ['coding', 'text'],
    needs: ['coding', 'text'],
    show: (value) => {
      const codings = listIn(value, 'coding').filter(isObject);
      const text = textIn(value, 'text') ?? joined(codings.map(codingText), ', ');
      return withNote(text, joined(codings.map(codingNote), ', '));
    },
  },
  {
    keys: ['system', 'version', 'code', 'display', 'userSelected'],
    needs: ['code', 'display'],
    show: (value) => withNote(codingText(value), codingNote(value)),
  },
  {
    keys: ['reference', 'type', 'identifier', 'display'],
    needs: ['reference'],
    show: (value) => {
      const reference = textIn(value, 'reference') ?? '';
      return { ...withNote(textIn(value, 'display') ?? reference, reference), reference };
    },
  },
  {
    keys: ['resourceType', 'id', 'display'],
    needs: ['resourceType'],
    show: (value) => {
      const reference = `${textIn(value, 'resourceType') ?? ''}/${textIn(value, 'id') ?? ''}`;
      return { ...withNote(textIn(value, 'display') ?? reference, reference), reference };
    },
  },
  { keys: ['start', 'end'], needs: ['start', 'end'], show: (value) => ({ text: periodText(value) }) },
  {
    keys: ['use', 'text', 'family', 'given', 'prefix', 'suffix', 'period'],
    needs: ['family', 'given'],
    show: (value) =>
      withNote(
        textIn(value, 'text') ??
          joined([
            ...textsIn(value, 'prefix'),
            ...textsIn(value, 'given'),
            textIn(value, 'family'),
            ...textsIn(value, 'suffix'),
          ]),
        joined([textIn(value, 'use'), nestedText(value, 'period')], ', '),
      ),
  },
  {
    keys: ['use', 'type', 'system', 'value', 'period', 'assigner'],
    needs: ['system', 'type'],
    show: (value) => withNote(textIn(value, 'value') ?? '', identifierNote(value)),
  },
  {
    keys: ['system', 'value', 'use', 'rank', 'period'],
    needs: ['value'],
    show: (value) =>
      withNote(textIn(value, 'value') ?? '', joined([textIn(value, 'system'), textIn(value, 'use')], ', ')),
  },
  {
    keys: ['use', 'type', 'text', 'line', 'city', 'district', 'state', 'postalCode', 'country', 'period'],
    needs: ['line', 'city', 'postalCode', 'country', 'state', 'district'],
    show: (value) =>
      withNote(
        textIn(value, 'text') ??
          joined(
            [
              ...textsIn(value, 'line'),
              joined([textIn(value, 'postalCode'), textIn(value, 'city')]),
              textIn(value, 'state'),
              textIn(value, 'country'),
            ],
            ', ',
          ),
        joined([textIn(value, 'use'), nestedText(value, 'period')], ', '),
      ),
  },
  {
    keys: ['low', 'high'],
    needs: ['low', 'high'],
    show: (value) => ({ text: joined([nestedText(value, 'low'), nestedText(value, 'high')], ' to ') }),
  },
  {
    keys: ['numerator', 'denominator'],
    needs: ['numerator'],
    show: (value) => ({ text: joined([nestedText(value, 'numerator'), nestedText(value, 'denominator')], ' per ') }),
  },
  {
    keys: ['authorReference', 'authorString', 'time', 'text'],
    needs: ['time', 'authorString', 'authorReference'],
    show: (value) =>
      withNote(
        textIn(value, 'text') ?? '',
        joined([textIn(value, 'authorString') ?? nestedText(value, 'authorReference'), textIn(value, 'time')], ', '),
      ),
  },
  {
    keys: ['contentType', 'language', 'data', 'url', 'size', 'hash', 'title', 'creation'],
    needs: ['contentType', 'url', 'data'],
    show: (value) =>
      withNote(
        textIn(value, 'title') ?? textIn(value, 'url') ?? textIn(value, 'contentType') ?? 'attachment',
        joined([textIn(value, 'contentType'), dataNote(textIn(value, 'data')), textIn(value, 'creation')], ', '),
      ),
  },
];

const identifierNote = (identifier: JsonObject): string =>
  joined([nestedText(identifier, 'type'), textIn(identifier, 'system'), textIn(identifier, 'use')], ', ');

const dataNote = (data: string | undefined): string | undefined =>
  data === undefined ? undefined : `${Math.round((data.length * 3) / 4 / 1024)} kB of data`;

const IN_EVERY_ELEMENT = ['id', 'extension'];

/** A value of a common data type in one line; undefined for a structure whose members need separate lines. */
export function shownOf(value: JsonValue): Shown | undefined {
  const text = scalarText(value);
  if (text !== undefined) return { text };
  if (!isObject(value)) return undefined;
  const keys = [...value.keys()].filter((key) => !key.startsWith('_'));
  // `id` is a part of a reference of this server's own types. In other values it is only an anchor.
  return DATATYPES.find(
    ({ keys: known, needs }) =>
      needs.some((key) => value.has(key)) && keys.every((key) => known.includes(key) || IN_EVERY_ELEMENT.includes(key)),
  )?.show(value);
}
