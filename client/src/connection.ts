import { SvcError } from './errors.js';
import { type Login, Tokens } from './tokens.js';
import type { Fetch, Query } from './types.js';

export interface Options {
  /** Address of the server, such as `https://health.example`. */
  readonly baseUrl: string;
  /** Used instead of the global `fetch`, for example to set a proxy. */
  readonly fetch?: Fetch;
}

export interface Call {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends requests with credentials. If a token has expired, it is replaced, and the request is sent once more. */
export class Connection {
  private readonly baseUrl: string;
  private readonly fetch: Fetch;

  private constructor(
    { baseUrl, fetch = (input, init) => globalThis.fetch(input, init) }: Options,
    private readonly tokens: Tokens | string,
  ) {
    this.baseUrl = withoutSlash(baseUrl);
    this.fetch = fetch;
  }

  static async login(options: Options, login: Login): Promise<Connection> {
    const fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    return new Connection(options, await Tokens.login(withoutSlash(options.baseUrl), login, fetch));
  }

  /** @param authorization the value of `Authorization` of each request */
  static with(options: Options, authorization: string): Connection {
    return new Connection(options, authorization);
  }

  /**
   * Sends a request.
   * @throws SvcError for every status other than 2xx
   */
  async request(method: string, path: string, call: Call = {}): Promise<Response> {
    const { tokens } = this;
    if (typeof tokens === 'string') return answered(await this.send(method, path, call, tokens));
    const authorization = await tokens.authorization();
    const response = await this.send(method, path, call, authorization);
    if (response.status !== 401 || !(await tokens.replace(authorization.slice('Bearer '.length))))
      return answered(response);
    await response.body?.cancel();
    return answered(await this.send(method, path, call, await tokens.authorization()));
  }

  async json<Answer>(method: string, path: string, call?: Call): Promise<Answer> {
    const text = await (await this.request(method, path, call)).text();
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  /**
   * The pages of a list. Each page is requested when the loop reaches it.
   * @param nextOf reads the link to the next page
   */
  async *pages<Page>(
    path: string,
    query: Query,
    nextOf: (page: Page) => string | undefined,
  ): AsyncGenerator<Page, void, void> {
    let page = await this.json<Page>('GET', path, { query });
    for (;;) {
      yield page;
      const next = nextOf(page);
      if (next === undefined) return;
      page = await this.json<Page>('GET', this.pathOf(next));
    }
  }

  /** The part of a link that follows the address of the server. */
  private pathOf(link: string): string {
    const { pathname, search } = new URL(link, this.baseUrl);
    return pathname.slice(new URL(this.baseUrl).pathname.replace(/\/$/, '').length) + search;
  }

  private send(
    method: string,
    path: string,
    { query = {}, body, headers, signal }: Call,
    authorization: string,
  ): Promise<Response> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      for (const one of Array.isArray(value) ? (value as string[]) : [String(value)]) parameters.append(name, one);
    }
    const url = `${this.baseUrl}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`;
    return this.fetch(url, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
        Authorization: authorization,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

async function answered(response: Response): Promise<Response> {
  if (!response.ok) throw await SvcError.of(response);
  return response;
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');
