import { type BundleCall, returnPreferenceOf } from './bundle-call';
import { type EntryResult } from './planned-write';
import { bundleText, entryStatus, versionPath } from '../api/resource-answer';
import { type BundleType } from './bundle';

/** An entry of the answer, before it is text. */
export type AnsweredEntry =
  | { readonly kind: 'write'; readonly result: EntryResult }
  /** An answer of a route of ours. */
  | {
      readonly kind: 'route';
      readonly status: number;
      readonly location?: string;
      readonly etag?: string;
      readonly lastModified?: string;
      /** The body: a resource, or the OperationOutcome of a failure. */
      readonly text: string;
      readonly isRead: boolean;
    };

/** The Bundle that answers one: an entry for each, in their order (http://hl7.org/fhir/R4/http.html#transaction-response). */
export function bundleAnswerText(type: BundleType, answers: readonly AnsweredEntry[], call: BundleCall): string {
  const responseType = type === 'batch' ? 'batch-response' : 'transaction-response';
  return bundleText(
    responseType,
    {},
    answers.map((answer) => (answer.kind === 'write' ? writeText(answer.result, call) : routeText(answer, call))),
  );
}

function writeText({ status, resource, version, updatedAt }: EntryResult, call: BundleCall): string {
  if (resource === undefined) return entryText({ status: entryStatus(status) });
  const written = version ?? resource.version;
  const response = {
    status: entryStatus(status),
    location: versionPath(resource, written),
    etag: `W/"${written}"`,
    lastModified: (updatedAt ?? resource.updatedAt).toISOString(),
  };
  switch (returnPreferenceOf(call.prefer)) {
    case 'minimal':
      return entryText(response);
    case 'representation':
      return entryText(response, resource.text, `${call.rootUrl}/${resource.type}/${resource.id}`);
    case 'OperationOutcome':
      return entryText({ ...response, outcome: SUCCESS });
  }
}

const SUCCESS = {
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'information', code: 'informational', diagnostics: 'Done.' }],
};

function routeText(answer: AnsweredEntry & { readonly kind: 'route' }, call: BundleCall): string {
  const { status, location, etag, lastModified, text, isRead } = answer;
  const response = {
    status: entryStatus(status),
    ...(location === undefined ? {} : { location: relativeTo(call.rootUrl, location) }),
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
  };
  if (text === '') return entryText(response);
  if (status >= 400) return `{"response":${JSON.stringify(response).slice(0, -1)},"outcome":${text}}}`;
  const preference = returnPreferenceOf(call.prefer);
  if (isRead || preference === 'representation') return entryText(response, text);
  return entryText(preference === 'OperationOutcome' ? { ...response, outcome: SUCCESS } : response);
}

/** Relative as Bundle.entry.response.location may be: the base of the answer is that of the request. */
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
