import { Access } from './access.js';
import { Addenda } from './addenda.js';
import { type Call, Connection, type Options } from './connection.js';
import { Destinations } from './destinations.js';
import { newKey, repeated } from './repeats.js';
import { Server } from './server.js';
import { Sessions } from './sessions.js';
import type { Login } from './tokens.js';
import { Topics } from './topics.js';
import type { Query, Resource, ResourceOf, ResourceType, RpcMethod, RpcParams, RpcResult, Schemas } from './types.js';

export type BundleEntry = NonNullable<Schemas['Bundle']['entry']>[number];

/** A search result, with an explanation of how PostgreSQL ran the search. */
export type Explained = Schemas['Bundle'] & {
  /** The SQL, followed by the values of `$1`, `$2` … */
  readonly query: readonly unknown[];
  /** The plan as text; with `_explain: 'format-json'`, as a tree. */
  readonly plan: unknown;
  /** The search parameters whose ids the plan shows. */
  readonly parameters?: readonly { readonly id: number; readonly name: string }[];
  readonly advice?: readonly string[];
};

/** A connection to the server as one caller: a User who logged in, or the User or Client that `Authorization` names. */
export class SvcClient {
  readonly access: Access;
  readonly addenda: Addenda;
  readonly destinations: Destinations;
  readonly server: Server;
  readonly sessions: Sessions;
  readonly topics: Topics;

  private constructor(private readonly connection: Connection) {
    this.access = new Access(connection);
    this.addenda = new Addenda((method, params) => this.rpc(method, params), connection);
    this.destinations = new Destinations(connection);
    this.server = new Server(connection);
    this.sessions = new Sessions(connection);
    this.topics = new Topics(connection);
  }

  /** Logs in with a password, and returns a client that renews its tokens when they expire. */
  static async login(options: Options, login: Login): Promise<SvcClient> {
    return new SvcClient(await Connection.login(options, login));
  }

  /**
   * Returns a client that sends the given `Authorization` with each request: a token that you already have, or HTTP
   * Basic of a Client.
   */
  static with(options: Options, authorization: string): SvcClient {
    return new SvcClient(Connection.with(options, authorization));
  }

  /** Returns the User of the token, without secrets. */
  user(): Promise<ResourceOf<'User'>> {
    return this.connection.json('GET', '/auth/userinfo');
  }

  /** Closes the Session. The server then refuses its tokens. */
  async logout(): Promise<void> {
    await this.connection.json('DELETE', '/Session');
  }

  /**
   * Calls an RPC method. If the answer is lost, the call is repeated with the same `Idempotency-Key`, so that it writes
   * only once.
   * @throws SvcError whose body is `{error}`
   */
  async rpc<Method extends RpcMethod>(
    method: Method,
    params: RpcParams<Method>,
    call: Call = {},
  ): Promise<RpcResult<Method>> {
    const sent = { ...call, headers: { 'Idempotency-Key': newKey(), ...call.headers }, body: { method, params } };
    const { result } = await repeated(
      () => this.connection.json<{ result: RpcResult<Method> }>('POST', '/rpc', sent),
      call.signal,
    );
    return result;
  }

  read<Type extends ResourceType>(type: Type, id: string): Promise<ResourceOf<Type>> {
    return this.connection.json('GET', `/fhir/${type}/${encodeURIComponent(id)}`);
  }

  create<Type extends ResourceType>(resource: ResourceOf<Type> & { resourceType: Type }): Promise<ResourceOf<Type>> {
    return this.connection.json('POST', `/fhir/${resource.resourceType}`, { body: resource });
  }

  /** Replaces a resource, or creates it under its id. */
  update<Type extends ResourceType>(
    resource: ResourceOf<Type> & { resourceType: Type; id: string },
  ): Promise<ResourceOf<Type>> {
    return this.connection.json('PUT', `/fhir/${resource.resourceType}/${encodeURIComponent(resource.id)}`, {
      body: resource,
    });
  }

  async delete(type: ResourceType, id: string): Promise<void> {
    await this.connection.json('DELETE', `/fhir/${type}/${encodeURIComponent(id)}`);
  }

  /** Finds resources, over all pages of the search. */
  async *search<Type extends ResourceType>(
    type: Type,
    query: Query = {},
  ): AsyncGenerator<ResourceOf<Type>, void, void> {
    for await (const { entry } of this.pages(type, query))
      for (const { resource } of entry ?? []) if (resource !== undefined) yield resource as unknown as ResourceOf<Type>;
  }

  /** The pages of a search. Each page is requested when the loop reaches it. */
  pages(type: ResourceType, query: Query = {}): AsyncGenerator<Schemas['Bundle'], void, void> {
    return this.pagesOf(`/fhir/${type}`, query);
  }

  /** Returns the first page of a search, with its SQL and its plan. */
  explain(type: ResourceType, query: Query = {}): Promise<Explained> {
    return this.connection.json('GET', `/fhir/${type}`, { query: { _explain: 1, ...query } });
  }

  /** Lists the versions of a resource, newest first. The entry of a deletion has no `resource`. */
  async *history(type: ResourceType, id: string): AsyncGenerator<BundleEntry, void, void> {
    for await (const { entry } of this.pagesOf(`/fhir/${type}/${encodeURIComponent(id)}/_history`, {}))
      yield* entry ?? [];
  }

  /**
   * Returns all resources of a patient, one by one as they arrive, so that only one is in memory. One of them may be an
   * OperationOutcome that names types which the caller may not read. If the server could not finish the answer, the
   * loop throws.
   */
  async *everything(patientId: string, query: Query = {}, call: Call = {}): AsyncGenerator<Resource, void, void> {
    for await (const text of this.everythingTexts(patientId, query, call)) yield JSON.parse(text) as Resource;
  }

  /**
   * Like {@link everything}, but returns JSON texts. Their numbers have the digits that were stored: `1.10` and not
   * `1.1`.
   */
  async *everythingTexts(patientId: string, query: Query = {}, call: Call = {}): AsyncGenerator<string, void, void> {
    const path = `/fhir/Patient/${encodeURIComponent(patientId)}/$everything`;
    const headers = { ...call.headers, Accept: 'application/fhir+ndjson' };
    const { body } = await this.connection.request('GET', path, { ...call, query, headers });
    if (body !== null) yield* linesOf(body);
  }

  private pagesOf(path: string, query: Query): AsyncGenerator<Schemas['Bundle'], void, void> {
    return this.connection.pages(path, query, ({ link }) => link?.find(({ relation }) => relation === 'next')?.url);
  }

  /**
   * Sends any other request.
   * @throws SvcError for every status other than 2xx
   */
  request(method: string, path: string, call?: Call): Promise<Response> {
    return this.connection.request(method, path, call);
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // Only the new piece is searched for line ends, since a resource of 5 MB arrives in hundreds of pieces.
      const [first = '', ...further] = decoder.decode(value, { stream: !done }).split('\n');
      const lines = [rest + first, ...further];
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
      if (done) break;
    }
    if (rest !== '') yield rest;
  } finally {
    // If the calling code leaves its loop early, the request is canceled, so that the rest of the answer is not read.
    await reader.cancel().catch(() => undefined);
  }
}
