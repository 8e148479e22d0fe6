import { noAnswerError } from './no-answer';

export type Authorization =
  | { readonly user: string; readonly password: string }
  /** An access token. */
  | { readonly bearer: string };

export type HttpBody = { readonly json: string } | { readonly form: Readonly<Record<string, string>> };

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path from the root of the server, with the query. */
  readonly path: string;
  readonly authorization?: Authorization;
  readonly body?: HttpBody;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly json: unknown;
}

const TIMEOUT_SECONDS = 120;

/**
 * Sends calls to one server. A response with any status is returned. Without a response, the error names the address of
 * the server.
 */
export class HttpClient {
  constructor(readonly baseUrl: string) {}

  async send(call: HttpCall): Promise<HttpAnswer> {
    const { method, path, body } = call;
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: Object.fromEntries(headersOf(call)),
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
      ...(body && { body: 'json' in body ? body.json : new URLSearchParams(body.form).toString() }),
    }).catch((error: unknown) => {
      throw noAnswerError(this.baseUrl, error);
    });
    const text = await response.text();
    return { status: response.status, text, json: parsedOrUndefined(text) };
  }

  /**
   * Prints the call as a line for a POSIX shell. Each value of `variables` (name → value) is replaced by `$NAME`, so
   * that a secret listed there is never shown.
   */
  curlLine(call: HttpCall, variables: ReadonlyMap<string, string>): string {
    const quoted = (text: string): string => shellQuoted(text, [...variables]);
    const { method, path, authorization, body } = call;
    const words = ['curl -sS', `-X ${method}`, quoted(this.baseUrl + path)];
    if (authorization && 'user' in authorization) {
      words.push(`-u ${quoted(`${authorization.user}:${authorization.password}`)}`);
    }
    if (authorization && 'bearer' in authorization)
      words.push(`-H ${quoted(`Authorization: Bearer ${authorization.bearer}`)}`);
    if (body && 'json' in body) words.push(`-H 'Content-Type: application/json'`, `-d ${quoted(body.json)}`);
    if (body && 'form' in body) {
      words.push(...Object.entries(body.form).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`));
    }
    return words.join(' ');
  }
}

function headersOf({ authorization, body }: HttpCall): [string, string][] {
  const headers: [string, string][] = [['Accept', 'application/json']];
  if (authorization) headers.push(['Authorization', authorizationHeader(authorization)]);
  if (body) headers.push(['Content-Type', 'json' in body ? 'application/json' : 'application/x-www-form-urlencoded']);
  return headers;
}

function authorizationHeader(authorization: Authorization): string {
  if ('bearer' in authorization) return `Bearer ${authorization.bearer}`;
  return `Basic ${Buffer.from(`${authorization.user}:${authorization.password}`).toString('base64')}`;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Single quotes keep everything literal, so only the variables are outside of them: `'…'"$NAME"'…'`. */
function shellQuoted(text: string, variables: readonly (readonly [string, string])[]): string {
  for (const [name, value] of variables) {
    const at = value === '' ? -1 : text.indexOf(value);
    if (at === -1) continue;
    const [before, after] = [text.slice(0, at), text.slice(at + value.length)];
    return `${shellQuoted(before, variables)}"$${name}"${shellQuoted(after, variables)}`;
  }
  return text === '' ? '' : `'${text.replaceAll("'", `'\\''`)}'`;
}
