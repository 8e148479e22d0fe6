import { type ErrorCode } from './error-codes';
import { type ErrorKind } from './error-kind';

/** One of several faults of a request; `code` is a word of http://hl7.org/fhir/R4/valueset-issue-type.html. */
export interface ErrorIssue {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: string;
  /** The cause in the catalogue. Default: that of the error. */
  readonly errorCode?: ErrorCode;
  /** Says what is wrong and what to do. */
  readonly diagnostics: string;
  /** FHIRPath of the element at fault, with indexes. */
  readonly expression: string;
}

/** Parts of an answer beside the message. */
export interface ErrorDetails {
  /** The cause in the catalogue of docs/reference/errors.md. Default: the kind. */
  readonly code?: ErrorCode;
  /** All faults, where the message sums up several. */
  readonly issues?: readonly ErrorIssue[];
  /** FHIRPath of the element at fault, for OperationOutcome.issue.expression. */
  readonly expression?: string;
  /** Methods that the route does support, for `Allow`. */
  readonly allow?: readonly string[];
  /** Media types that a PATCH may have, for `Accept-Patch` (RFC 5789, section 3.1). */
  readonly acceptPatch?: readonly string[];
  readonly retryAfterSeconds?: number;
  /** Whether a token came and was refused, for `WWW-Authenticate` (RFC 6750, section 3.1). */
  readonly isInvalidToken?: boolean;
  /** For the operator's log only; the caller never sees it. */
  readonly operatorDetail?: string;
}

/**
 * A refusal or failure that is returned to the caller. `message` goes to the caller, so it says what to do and
 * never repeats secrets or patient data.
 * @example
 * throw new ServiceError('conflict', 'The ward is full. Choose another one.');
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The cause in the catalogue. */
export const errorCodeOf = ({ kind, details }: ServiceError): ErrorCode => details.code ?? kind;
