import { type ErrorKind, type ServiceError } from '../platform/errors/service-error';
import { type OperationOutcome } from './types';

/** The FHIR edge: HTTP status and issue code (http://hl7.org/fhir/R4/valueset-issue-type.html) of each error kind. */
export const FHIR_ERRORS: Readonly<Record<ErrorKind, { readonly status: number; readonly issue: string }>> = {
  invalid: { status: 400, issue: 'invalid' },
  unauthorized: { status: 401, issue: 'login' },
  forbidden: { status: 403, issue: 'forbidden' },
  'not-found': { status: 404, issue: 'not-found' },
  'not-allowed': { status: 405, issue: 'not-supported' },
  conflict: { status: 409, issue: 'duplicate' },
  gone: { status: 410, issue: 'deleted' },
  'precondition-failed': { status: 412, issue: 'conflict' },
  'multiple-matches': { status: 412, issue: 'multiple-matches' },
  'too-large': { status: 413, issue: 'too-long' },
  'unsupported-media-type': { status: 415, issue: 'not-supported' },
  unprocessable: { status: 422, issue: 'invalid' },
  busy: { status: 503, issue: 'transient' },
  timeout: { status: 504, issue: 'timeout' },
};

export function operationOutcome(code: string, diagnostics: string, expression?: string): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id: code,
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${escapeMarkup(diagnostics)}</div>` },
    issue: [
      { severity: 'fatal', code, diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) },
    ],
  };
}

/** An outcome that is no refusal. */
export function informationOutcome(diagnostics: string): OperationOutcome {
  const { issue, ...outcome } = operationOutcome('informational', diagnostics);
  return { ...outcome, issue: issue.map((one) => ({ ...one, severity: 'information' })) };
}

export const outcomeOf = ({ kind, message, details }: ServiceError): OperationOutcome =>
  operationOutcome(FHIR_ERRORS[kind].issue, message, details.expression);

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
