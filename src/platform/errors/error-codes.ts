import { type ErrorKind } from './error-kind';

/** The code system of `OperationOutcome.issue.details.coding`. */
export const ERROR_CODES_SYSTEM = 'urn:svc:error';

/**
 * Codes of the errors that a caller can get, by kind. An error without a specific code has the code of its kind. The
 * codes never change, since callers branch on them. `docs/reference/errors.md` describes the cause of each and what to
 * do.
 */
const CODES_OF_KINDS = {
  invalid: [
    'body-duplicate-key',
    'body-forbidden-key',
    'body-forbidden-text',
    'body-malformed',
    'body-missing',
    'body-not-a-resource',
    'body-number-too-long',
    'body-too-deep',
    'body-too-many-values',
    'bundle-entry-invalid',
    'bundle-invalid',
    'criteria-invalid',
    'header-invalid',
    'id-invalid',
    'id-mismatch',
    'include-invalid',
    'page-link-invalid',
    'parameter-repeated',
    'parameter-unknown',
    'parameter-value-invalid',
    'parameters-exclusive',
    'patch-malformed',
    'rpc-call-malformed',
    'search-parameter-unknown',
    'search-too-large',
    'search-value-invalid',
    'url-malformed',
    'value-set-unusable',
  ],
  unauthorized: [
    'authorization-malformed',
    'basic-rejected',
    'link-expired',
    'token-missing',
    'token-rejected',
    'token-required',
  ],
  forbidden: [
    'author-not-caller',
    'pages-of-another-caller',
    'policy-missing',
    'reference-target-forbidden',
    'rows-limited',
    'rows-not-granted',
    'token-without-user',
  ],
  'not-found': [
    'decision-not-found',
    'event-not-found',
    'no-match',
    'operation-unknown',
    'resource-not-found',
    'resource-type-unknown',
    'route-unknown',
    'version-not-found',
  ],
  'not-allowed': ['definition-built-in', 'history-read-only', 'write-refused'],
  'not-acceptable': [],
  conflict: ['idempotency-key-running', 'user-changed'],
  duplicate: ['id-taken', 'login-name-taken', 'search-parameter-taken'],
  gone: ['addendum-missing', 'history-position-expired', 'pages-expired', 'resource-deleted'],
  'precondition-failed': ['isolation-conflict', 'resource-exists', 'version-mismatch'],
  'multiple-matches': ['too-many-to-delete'],
  'too-slow': [],
  'too-large': ['body-too-large', 'bundle-too-many-entries', 'headers-too-large'],
  'unsupported-media-type': ['content-encoding-unsupported', 'fhir-version-unsupported'],
  unprocessable: [
    'account-invalid',
    'bundle-too-large',
    'compartment-definition-invalid',
    'compartment-too-large',
    'destination-invalid',
    'diff-too-large',
    'document-content-invalid',
    'document-status',
    'document-version',
    'idempotency-key-reused',
    'idempotency-result-not-kept',
    'note-on-open-document',
    'password-rejected',
    'password-wrong',
    'patch-not-applicable',
    'policy-invalid',
    'replay-too-large',
    'request-not-shown',
    'resource-invalid',
    'rpc-batch-too-large',
    'rpc-method-unknown',
    'rpc-params-invalid',
    'search-parameter-invalid',
    'session-invalid',
    'target-not-found',
    'topic-invalid',
  ],
  throttled: [],
  busy: [
    'audit-unavailable',
    'database-read-only',
    'database-unavailable',
    'destination-unreadable',
    'index-building',
    'pages-full',
    'release-outdated',
    'write-conflict',
  ],
  timeout: ['bundle-timeout', 'everything-timeout', 'query-timeout', 'transaction-timeout'],
} as const satisfies Readonly<Record<ErrorKind, readonly string[]>>;

/**
 * Codes of errors of the OAuth endpoints: one for each code of RFC 6749 and RFC 8707, and one for each of several
 * causes of `invalid_grant`.
 */
const OAUTH_CODES = [
  'oauth-invalid-client',
  'oauth-invalid-grant',
  'oauth-invalid-request',
  'oauth-invalid-scope',
  'oauth-invalid-target',
  'oauth-unauthorized-client',
  'oauth-unsupported-grant-type',
  'credentials-wrong',
  'one-time-code-missing',
  'one-time-code-wrong',
  'refresh-token-rejected',
  'token-of-another-client',
  'user-inactive',
] as const;

/** The codes that have a kind: all except those of OAuth and of unexpected failures. */
export type KindedCode = ErrorKind | (typeof CODES_OF_KINDS)[ErrorKind][number];

export type ErrorCode = KindedCode | (typeof OAUTH_CODES)[number] | 'internal-error';

/** All codes, each with its kind. Codes of OAuth and of unexpected failures have no kind. */
export const ERROR_CODES: ReadonlyMap<ErrorCode, ErrorKind | undefined> = new Map<ErrorCode, ErrorKind | undefined>([
  ...Object.entries(CODES_OF_KINDS).flatMap(([name, codes]) => {
    const kind = name as ErrorKind;
    return [kind, ...codes].map((code): [ErrorCode, ErrorKind] => [code as ErrorCode, kind]);
  }),
  ...OAUTH_CODES.map((code): [ErrorCode, undefined] => [code, undefined]),
  ['internal-error', undefined],
]);

/** Returns the URL of the page and section that explain a code, for servers that serve the documentation. */
export const errorPageOf = (baseUrl: string, code: ErrorCode): string =>
  `${baseUrl}/docs/reference/errors.html#${code}`;

/** Returns the header `Link` to the explanation of an error (RFC 8288; `help` is a registered relation). */
export const helpLink = (baseUrl: string, code: ErrorCode): { readonly Link: string } => ({
  Link: `<${errorPageOf(baseUrl, code)}>; rel="help"`,
});
