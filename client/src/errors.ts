/** An error that the server answered, or an answer that did not come from the server itself. */
export class SvcError extends Error {
  override readonly name = 'SvcError';

  /**
   * @param status HTTP status
   * @param body body of the answer: an OperationOutcome, `{error}` of RPC or OAuth, or text
   * @param requestId id by which the operator of the server finds the request
   * @param retryAfterSeconds value of `Retry-After`: after this time the same request may succeed
   */
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly requestId: string | undefined,
    readonly retryAfterSeconds?: number,
  ) {
    super(messageOf(body) ?? `The server answered ${status}.`);
  }

  /** The stable code of the error (docs/reference/errors.md of the server). For RPC it is the `type` of the error. */
  get code(): string | undefined {
    return codeOf(this.body);
  }

  /** If policies denied the request: the id of the decision that `client.access.decision` explains. */
  get decisionId(): string | undefined {
    return /\/auth\/decisions\/([\w-]+)/.exec(this.message)?.[1];
  }

  static async of(response: Response): Promise<SvcError> {
    const text = await response.text();
    const { headers } = response;
    const seconds = Number(headers.get('retry-after') ?? NaN); // the server sends seconds, never a date
    const requestId = headers.get('x-request-id') ?? undefined;
    return new SvcError(response.status, parsed(text), requestId, ...(Number.isFinite(seconds) ? [seconds] : []));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface Coding {
  readonly system?: string;
  readonly code?: string;
}

interface Refusal {
  readonly issue?: readonly {
    readonly diagnostics?: string;
    readonly details?: { readonly text?: string; readonly coding?: readonly Coding[] };
  }[];
  readonly error?: string | { readonly message?: string; readonly type?: string };
  readonly error_description?: string;
  readonly error_uri?: string;
}

function messageOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { issue, error, error_description: description } = body as Refusal;
  if (description !== undefined) return description;
  if (typeof error === 'object') return error.message;
  return issue?.map(({ diagnostics, details }) => diagnostics ?? details?.text ?? '').join(' ') ?? error;
}

function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { issue, error, error_uri: uri } = body as Refusal;
  if (typeof error === 'object') return error.type;
  if (uri !== undefined) return new URL(uri).hash.slice(1);
  return issue?.[0]?.details?.coding?.find(({ system }) => system === 'urn:svc:error')?.code;
}
