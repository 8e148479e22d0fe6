import { type ErrorCode, ERROR_CODES_SYSTEM } from '../../platform/errors/error-codes';
import { type ErrorKind } from '../../platform/errors/error-kind';
import { type ErrorIssue, errorCodeOf, type ServiceError } from '../../platform/errors/service-error';
import { type OperationOutcome } from '../types';

/**
 * HTTP status and issue code (http://hl7.org/fhir/R4/valueset-issue-type.html) of each kind of error in FHIR answers.
 */
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

type Severity = OperationOutcome['issue'][number]['severity'];

/**
 * An OperationOutcome with one fatal issue.
 * @param errorCode code of the cause in the catalogue of errors
 */
export const fatalOutcome = (
  code: string,
  errorCode: ErrorCode,
  diagnostics: string,
  expression = '',
): OperationOutcome =>
  outcomeOfIssues(code, diagnostics, [{ severity: 'fatal', code, errorCode, diagnostics, expression }]);

export const informationOutcome = (diagnostics: string): OperationOutcome =>
  outcomeOfIssues('informational', diagnostics, [
    { severity: 'information', code: 'informational', diagnostics, expression: '' },
  ]);

/** The OperationOutcome of an error. Every error in it is fatal, since no part of the request was processed. */
export function outcomeOf(error: ServiceError): OperationOutcome {
  const { kind, message, details } = error;
  const code = FHIR_ERRORS[kind].issue;
  const errorCode = errorCodeOf(error);
  if (details.issues === undefined) return fatalOutcome(code, errorCode, message, details.expression);
  const issues = details.issues.map((one) =>
    one.severity === 'error' ? { errorCode, ...one, severity: 'fatal' as const } : one,
  );
  return outcomeOfIssues(code, message, issues);
}

/** An OperationOutcome with several issues, such as those of a validation. */
export const outcomeOfIssues = (
  id: string,
  summary: string,
  issues: readonly (Omit<ErrorIssue, 'severity'> & { readonly severity: Severity })[],
): OperationOutcome => ({
  resourceType: 'OperationOutcome',
  id,
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${escapeMarkup(summary)}</div>` },
  issue: issues.map(({ severity, code, errorCode, diagnostics, expression }) => ({
    severity,
    code,
    ...(errorCode === undefined ? {} : { details: { coding: [{ system: ERROR_CODES_SYSTEM, code: errorCode }] } }),
    diagnostics,
    ...(expression === '' ? {} : { expression: [expression] }),
  })),
});

/** The OperationOutcome that answers a write with `Prefer: return=OperationOutcome`. */
export function outcomeOfWrite(method: string, status: number, etag = ''): object {
  const stored = `${status === 201 ? 'Created' : 'Stored'}: version ${etag.replace(/\D/g, '')}.`;
  const diagnostics = method === 'DELETE' ? 'Deleted.' : stored;
  return {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'information', code: 'informational', diagnostics }],
  };
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
