/** A refusal of the server, or an answer that is none of its own. */
export class SvcError extends Error {
  override readonly name = 'SvcError';

  /**
   * @param status HTTP status
   * @param body what was answered: an OperationOutcome, `{error}` of RPC or OAuth, or text
   * @param requestId names the request to the operator of the server
   * @param retryAfterSeconds when the same request may succeed, where the server knows
   */
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly requestId: string | undefined,
    readonly retryAfterSeconds?: number,
  ) {
    super(messageOf(body) ?? `The server answered ${status}.`);
  }

  /** Of a denial by policies: the decision that `client.access.decision` explains. */
  get decisionId(): string | undefined {
    return /\/auth\/decisions\/([\w-]+)/.exec(this.message)?.[1];
  }

  static async of(response: Response): Promise<SvcError> {
    const text = await response.text();
    const { headers } = response;
    const seconds = Number(headers.get('retry-after') ?? NaN); // the server sends no dates
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

interface Refusal {
  readonly issue?: readonly { readonly diagnostics?: string; readonly details?: { readonly text?: string } }[];
  readonly error?: string | { readonly message?: string };
  readonly error_description?: string;
}

function messageOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { issue, error, error_description: description } = body as Refusal;
  if (description !== undefined) return description;
  if (typeof error === 'object') return error.message;
  return issue?.map(({ diagnostics, details }) => diagnostics ?? details?.text ?? '').join(' ') ?? error;
}
