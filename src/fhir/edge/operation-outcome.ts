import { type ErrorIssue, type ErrorKind, type ServiceError } from '../../platform/errors/service-error';
import { type OperationOutcome } from '../types';

/** The FHIR edge: HTTP status and issue code (http://hl7.org/fhir/R4/valueset-issue-type.html) of each error kind. */
export const FHIR_ERRORS: Readonly<Record<ErrorKind, { readonly status: number; readonly issue: string }>> = {
  invalid: { status: 400, issue: 'invalid' },
  unauthorized: { status: 401, issue: 'login' },
  forbidden: { status: 403, issue: 'forbidden' },
  'not-found': { status: 404, issue: 'not-found' },
  'not-allowed': { status: 405, issue: 'not-supported' },
  'not-acceptable': { status: 406, issue: 'not-supported' },
  conflict: { status: 409, issue: 'conflict' },
  duplicate: { status: 409, issue: 'duplicate' },
  gone: { status: 410, issue: 'deleted' },
  'precondition-failed': { status: 412, issue: 'conflict' },
  'multiple-matches': { status: 412, issue: 'multiple-matches' },
  'too-slow': { status: 408, issue: 'timeout' },
  'too-large': { status: 413, issue: 'too-long' },
  'unsupported-media-type': { status: 415, issue: 'not-supported' },
  unprocessable: { status: 422, issue: 'invalid' },
  throttled: { status: 429, issue: 'throttled' },
  busy: { status: 503, issue: 'transient' },
  timeout: { status: 504, issue: 'timeout' },
};

type Issue = OperationOutcome['issue'][number];

export function operationOutcome(code: string, diagnostics: string, expression?: string): OperationOutcome {
  return outcome(code, diagnostics, [
    { severity: 'fatal', code, diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) },
  ]);
}

/** An OperationOutcome with several issues, as from a validation. */
export function outcomeOfIssues(code: string, summary: string, issues: readonly ErrorIssue[]): OperationOutcome {
  return outcome(
    code,
    summary,
    issues.map(({ expression, ...issue }) => ({
      ...issue,
      ...(expression === '' ? {} : { expression: [expression] }),
    })),
  );
}

/** In an error response every issue is fatal: no part of the request was processed. */
export function outcomeOf({ kind, message, details }: ServiceError): OperationOutcome {
  const code = FHIR_ERRORS[kind].issue;
  if (details.issues === undefined) return operationOutcome(code, message, details.expression);
  const { issue, ...rest } = outcomeOfIssues(code, message, details.issues);
  return {
    ...rest,
    issue: issue.map((one) => (one.severity === 'error' ? { ...one, severity: 'fatal' as const } : one)),
  };
}

/** An OperationOutcome for a success. */
export function informationOutcome(diagnostics: string): OperationOutcome {
  const { issue, ...rest } = operationOutcome('informational', diagnostics);
  return { ...rest, issue: issue.map((one) => ({ ...one, severity: 'information' })) };
}

function outcome(id: string, summary: string, issue: readonly Issue[]): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id,
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${escapeMarkup(summary)}</div>` },
    issue,
  };
}

/** The answer to a write with `Prefer: return=OperationOutcome`. */
export const outcomeOfWrite = (method: string, status: number, etag = ''): object => ({
  resourceType: 'OperationOutcome',
  issue: [
    {
      severity: 'information',
      code: 'informational',
      diagnostics:
        method === 'DELETE'
          ? 'Deleted.'
          : `${status === 201 ? 'Created' : 'Stored'}: version ${etag.replace(/\D/g, '')}.`,
    },
  ],
});

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
