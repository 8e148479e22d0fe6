import { type PreferredReturn, preferredReturnOf } from '../../fhir/edge/prefer';
import { type WriteResult } from '../../resource/writes/write';
import { type Produce } from '../../platform/http/send-body';
import { produceBundle } from '../../model/bundle-text';
import { entryStatus, versionPath } from '../api/resource-answer';
import { type BundleType, type BundleCall } from './bundle';

/**
 * Maximum number of characters of resources in the answer to a Bundle, since all of them are in memory until the answer
 * is sent.
 */
export const MOST_CHARACTERS = 64 * 1024 * 1024;

/** The answer of an entry before it is printed as text. */
export type AnsweredEntry = WrittenEntry | RoutedEntry;

interface WrittenEntry {
  readonly kind: 'write';
  readonly result: WriteResult | undefined;
  /** Whether the answer leaves the resource out, since the caller may not read it. */
  readonly isHidden: boolean;
}

/** The answer of a route to an entry that was sent to it. */
export interface RoutedEntry {
  readonly kind: 'route';
  readonly status: number;
  readonly location?: string | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Body of the answer: a resource, or the OperationOutcome of a failure. */
  readonly text: string;
  readonly isRead: boolean;
}

/**
 * Prints the answer to a Bundle: one entry for each of its entries, in order
 * (http://hl7.org/fhir/R4/http.html#transaction-response). It never fails, since the writes are already committed. If
 * resources would make the answer too long, the later ones are left out, as `Prefer` allows.
 */
export function produceAnswer(type: BundleType, answers: readonly AnsweredEntry[], call: BundleCall): Produce {
  const responseType = type === 'batch' ? 'batch-response' : 'transaction-response';
  return produceBundle(responseType, {}, answeredEntries(answers, call));
}

/** Prints a few entries at a time, bounded by the number of their characters. */
function* answeredEntries(answers: readonly AnsweredEntry[], call: BundleCall): Generator<string[], void, void> {
  let room = MOST_CHARACTERS - answers.reduce((sum, one) => sum + (one.kind === 'route' ? one.text.length : 0), 0);
  let texts: string[] = [];
  let characters = 0;
  for (const answer of answers) {
    if (answer.kind === 'write') room -= answer.result?.resource.text.length ?? 0;
    const text = answer.kind === 'write' ? writeText(answer, call, room >= 0) : routeText(answer, call);
    texts.push(text);
    characters += text.length;
    if (characters < PRINTED_AT_ONCE) continue;
    yield texts;
    texts = [];
    characters = 0;
  }
  yield texts;
}

const PRINTED_AT_ONCE = 32 * 1024;

function writeText({ result, isHidden }: WrittenEntry, call: BundleCall, hasRoom: boolean): string {
  if (result === undefined) return entryText({ status: entryStatus(204) });
  const { outcome, resource, deletion } = result;
  const { version, updatedAt } = deletion ?? resource;
  const response = {
    status: entryStatus(outcome === 'created' ? 201 : 200),
    location: versionPath(resource, version),
    etag: `W/"${version}"`,
    lastModified: updatedAt.toISOString(),
  };
  switch (preferenceOf(call)) {
    case 'minimal':
      return entryText(response);
    case 'representation':
      if (isHidden || !hasRoom) return entryText(response);
      return entryText(response, resource.text, `${call.rootUrl}/${resource.type}/${resource.id}`);
    case 'OperationOutcome':
      return entryText({ ...response, outcome: SUCCESS });
  }
}

/** Without a preference, the answer to a Bundle has no resources. */
export const preferenceOf = ({ prefer }: BundleCall): PreferredReturn => preferredReturnOf(prefer) ?? 'minimal';

const SUCCESS = {
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'information', code: 'informational', diagnostics: 'Done.' }],
};

function routeText(answer: RoutedEntry, call: BundleCall): string {
  const { status, location, etag, lastModified, text, isRead } = answer;
  const place = location === undefined ? undefined : relativeTo(call.rootUrl, location);
  const response = { status: entryStatus(status), location: place, etag, lastModified };
  if (status >= 400 && text !== '') return `{"response":${JSON.stringify(response).slice(0, -1)},"outcome":${text}}}`;
  const preference = preferenceOf(call);
  if (isRead || preference === 'representation') return entryText(response, text === '' ? undefined : text);
  return entryText(status !== 204 && preference === 'OperationOutcome' ? { ...response, outcome: SUCCESS } : response);
}

/** Makes a URL relative, as Bundle.entry.response.location may be: its base is the URL to which the Bundle was sent. */
const relativeTo = (rootUrl: string, url: string): string =>
  url.startsWith(`${rootUrl}/`) ? url.slice(rootUrl.length + 1) : url;

function entryText(response: object, resource?: string, fullUrl?: string): string {
  const parts = [
    ...(fullUrl === undefined ? [] : [`"fullUrl":${JSON.stringify(fullUrl)}`]),
    ...(resource === undefined ? [] : [`"resource":${resource}`]),
    `"response":${JSON.stringify(response)}`,
  ];
  return `{${parts.join(',')}}`;
}
