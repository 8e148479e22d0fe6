import { type Request } from 'express';
import { Negotiator } from 'negotiator';
import { memoized } from '../../platform/memoized';

export interface AnswerFormat {
  readonly contentType: string;
  readonly isYaml: boolean;
  /** Whether the answer has one resource per line instead of a Bundle. */
  readonly isLines?: true;
  /** Whether the answer is an HTML page for people. */
  readonly isPage?: true;
}

export type FormatOffer = 'lines' | 'page';

const format = (mediaType: string): AnswerFormat => ({
  contentType: `${mediaType}; charset=utf-8`,
  isYaml: mediaType.includes('yaml'),
});

type Formats = ReadonlyMap<string, AnswerFormat>;

/** Formats by media type. A range such as `*` selects the first format that it matches. */
const FORMATS: Formats = new Map(
  [
    ...['application/fhir+json', 'application/json', 'application/json+fhir', 'text/json'],
    ...['text/yaml', 'application/yaml', 'application/fhir+yaml', 'application/x-yaml', 'text/x-yaml'],
  ].map((type) => [type, format(type)]),
);

export const DEFAULT_FORMAT: AnswerFormat = format('application/fhir+json');

/** Formats by offer. In each map, the first format is the default. */
const OFFERED: Readonly<Record<FormatOffer | 'none', Formats>> = {
  none: FORMATS,
  // One resource per line (http://hl7.org/fhir/uv/bulkdata/STU1/index.html#file-request), for the operations that can
  // answer so.
  lines: new Map<string, AnswerFormat>([
    ...FORMATS,
    ...['application/fhir+ndjson', 'application/ndjson', 'application/x-ndjson'].map(
      (type) => [type, { contentType: type, isYaml: false, isLines: true }] as const,
    ),
  ]),
  page: new Map<string, AnswerFormat>([['text/html', { ...format('text/html'), isPage: true }], ...FORMATS]),
};

/** Short names that `_format` may have, with their media types (http://hl7.org/fhir/R4/http.html#mime-type). */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  json: 'application/fhir+json',
  yaml: 'text/yaml',
  ndjson: 'application/fhir+ndjson',
  html: 'text/html',
};

export const YAML_MEDIA_TYPES = [...FORMATS.keys()].filter((type) => format(type).isYaml);

/** Page that documents which parts of FHIR are not supported, with alternatives. */
export const UNSERVED_PAGE = 'docs/reference/open-points.md, "Not served".';

/** A sentence in errors about media types, since many clients request XML. */
export const xmlHint = (mediaType: string | null | undefined): string =>
  /xml/i.test(mediaType ?? '') ? ` XML is not served: ${UNSERVED_PAGE}` : '';

/** As {@link xmlHint}, and for a Binary that is sent or requested as the file that it holds. */
export const formatHint = ({ path }: Request, mediaType: string | null | undefined): string =>
  xmlHint(mediaType) ||
  (/\/Binary(\/|$)/.test(path) ? ` A Binary has its content in data, as base64: ${UNSERVED_PAGE}` : '');

/**
 * Chooses the format of an answer. `_format` counts before `Accept`, as R4 says. In `Accept`, the range with the
 * largest q counts, then the more specific one, then the earlier one (RFC 9110, section 12.5.1).
 * @param offer further formats that this answer can have
 * @returns undefined if no requested format is supported
 */
export function negotiatedFormat(
  accept: string | undefined,
  asked: string | null,
  offer: FormatOffer | 'none' = 'none',
): AnswerFormat | undefined {
  if (asked !== null && asked !== '') return askedFormat(asked, OFFERED[offer]);
  return bestByOffer[offer](accept === undefined || accept === '' ? '*/*' : accept);
}

/** The format that `_format` names. A plus sign that was not encoded in the URL arrives as a space. */
function askedFormat(asked: string, formats: Formats): AnswerFormat | undefined {
  const range = mediaRangeOf(asked.replace(/ (?=json|yaml|fhir|ndjson)/, '+'));
  const name = SHORT_NAMES[range.mediaType] ?? range.mediaType;
  return range.isKnownVersion ? formats.get(name) : undefined;
}

/** Maximum number of ranges of an `Accept` header that are read. No client sends more. */
const MAX_RANGES = 50;

/**
 * The best format for an `Accept` header. It is cached, since clients send few different headers, each of them
 * repeatedly.
 */
const bestOf = (formats: Formats): ((accept: string) => AnswerFormat | undefined) =>
  memoized((accept) => {
    const ranges = accept
      .split(',', MAX_RANGES)
      .map(mediaRangeOf)
      .filter(({ isKnownVersion }) => isKnownVersion)
      .map(({ mediaType, quality }) => `${mediaType};q=${quality}`);
    const [best = ''] = new Negotiator({ headers: { accept: ranges.join(',') } }).mediaTypes([...formats.keys()]);
    return formats.get(best);
  }, 100);

const bestByOffer = { none: bestOf(OFFERED.none), lines: bestOf(OFFERED.lines), page: bestOf(OFFERED.page) };

interface MediaRange {
  readonly mediaType: string;
  readonly quality: string;
  readonly isKnownVersion: boolean;
}

/** Reads `application/fhir+json; fhirVersion=4.0; q=0.8`. An invalid q is read as 1; other parameters are ignored. */
function mediaRangeOf(text: string): MediaRange {
  const [mediaType = '', ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const valueOf = (name: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  return {
    mediaType,
    quality: /^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/.exec(valueOf('q') ?? '')?.[0] ?? '1',
    isKnownVersion: /^"?4\.0(?:\.1)?"?$/.test(valueOf('fhirversion') ?? '4.0'),
  };
}
