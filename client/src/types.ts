import type { components } from './api.js';

/** All schemas of the server by name: resources of R4, the server's own types, and data types. */
export type Schemas = components['schemas'];

type NamesOf<S> = { [Name in keyof S]: S[Name] extends { resourceType: Name } ? Name : never }[keyof S];

/** Name of a resource type that the server stores. */
export type ResourceType = NamesOf<Schemas> & string;

export type ResourceOf<Type extends ResourceType> = Schemas[Type];

export type Resource = Schemas['Resource'];

export type Reference = Schemas['NativeReference'];

type RpcCall = Schemas['RpcCall'];
export type RpcMethod = RpcCall['method'];
/** The params of an RPC method. */
export type RpcParams<Method extends RpcMethod> =
  Extract<RpcCall, { method: Method }> extends { params: infer Params } ? Params : Record<string, unknown>;
/** The result of an RPC method. */
export type RpcResult<Method extends RpcMethod> = NonNullable<Schemas['RpcResults'][Method]>;

/** The parameters of a query. A list sends its parameter once for each item. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** `fetch`, or a function with the same behavior. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;
