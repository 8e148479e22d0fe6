import { type PreferredReturn, preferredReturnOf } from '../../fhir/edge/prefer';
import { type WriteResult } from '../../resource/writes/write';
import { type Produce } from '../../platform/http/send-body';
import { produceBundle } from '../../model/bundle-text';
import { entryStatus, versionPath } from '../api/resource-answer';
import { type BundleType, type BundleCall } from './bundle';

/** Maximum number of characters of resources in an answer, since all are in memory until it is sent. */
export const MOST_CHARACTERS = 64 * 1024 * 1024;

export interface AnsweredEntry {
  readonly status: number;
  readonly location?: string | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** A resource, or the OperationOutcome of a failure; empty if there is none, or the caller may not read it. */
  readonly text: string;
  /** The URL of a resource that a transaction wrote; undefined for the answer of a route. */
  readonly fullUrl?: string;
  readonly isRead: boolean;
}

/**
 * The answer of a write.
 * @param isHidden whether the caller may not read the resource
 */
export function writtenEntry(
  result: WriteResult | undefined,
  isHidden: boolean,
  { rootUrl }: BundleCall,
): AnsweredEntry {
  if (result === undefined) return { status: 204, text: '', isRead: false };
  const { outcome, resource, deletion } = result;
  const { version, updatedAt } = deletion ?? resource;
  return {
    status: outcome === 'created' ? 201 : 200,
    location: versionPath(resource, version),
    etag: `W/"${version}"`,
    lastModified: updatedAt.toISOString(),
    text: isHidden ? '' : resource.text,
    fullUrl: `${rootUrl}/${resource.type}/${resource.id}`,
    isRead: false,
  };
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

function* answeredEntries(answers: readonly AnsweredEntry[], call: BundleCall): Generator<string[], void, void> {
  const isWritten = ({ fullUrl }: AnsweredEntry): boolean => fullUrl !== undefined;
  let room = answers.reduce((left, one) => (isWritten(one) ? left : left - one.text.length), MOST_CHARACTERS);
  for (const answer of answers) {
    if (isWritten(answer)) room -= answer.text.length;
    yield [entryText(isWritten(answer) && room < 0 ? { ...answer, text: '' } : answer, call)];
  }
}

/** Without a preference, the answer to a Bundle has no resources. */
export const preferenceOf = ({ prefer }: BundleCall): PreferredReturn => preferredReturnOf(prefer) ?? 'minimal';

const SUCCESS = {
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'information', code: 'informational', diagnostics: 'Done.' }],
};

function entryText(
  { status, location, etag, lastModified, text, fullUrl, isRead }: AnsweredEntry,
  call: BundleCall,
): string {
  const place = location === undefined ? undefined : relativeTo(call.rootUrl, location);
  const response = { status: entryStatus(status), location: place, etag, lastModified };
  if (status >= 400 && text !== '') return `{"response":${JSON.stringify(response).slice(0, -1)},"outcome":${text}}}`;
  const preference = preferenceOf(call);
  if ((isRead || preference === 'representation') && text !== '') {
    const named = fullUrl === undefined ? '' : `"fullUrl":${JSON.stringify(fullUrl)},`;
    return `{${named}"resource":${text},"response":${JSON.stringify(response)}}`;
  }
  const isReported = !isRead && status !== 204 && preference === 'OperationOutcome';
  return JSON.stringify({ response: isReported ? { ...response, outcome: SUCCESS } : response });
}

/** Makes a URL relative, as Bundle.entry.response.location may be: its base is the URL to which the Bundle was sent. */
const relativeTo = (rootUrl: string, url: string): string =>
  url.startsWith(`${rootUrl}/`) ? url.slice(rootUrl.length + 1) : url;
