import { DiscoveryService } from '@nestjs/core';
import { capitalized } from '../fhir/definitions/definitions';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type AnswerFormat } from '../fhir/edge/format';
import { type Members } from '../platform/discovery/definition';

/**
 * The `resourceType` of an operation that can be called on all resource types.
 * @example
 * &#64;Injectable()
 * &#64;Operation({
 *   ...{ code: 'size', resourceType: ANY_TYPE, level: 'instance', methods: ['GET'] },
 *   description: 'Length of the text.',
 * })
 * export class Size implements OperationHandler {
 *   constructor(private readonly reader: ResourceReader) {}
 *
 *   async execute({ type = '', id = '' }: OperationRequest): Promise<FhirAnswer> {
 *     const { text } = await this.reader.read(type, id);
 *     return { status: 200, text: JSON.stringify({ size: text.length }) };
 *   }
 * }
 */
export const ANY_TYPE = '{type}';

/**
 * Address and properties of an operation (http://hl7.org/fhir/R4/operations.html). The name by which an AccessPolicy
 * links to the operation is `Fhir` and its code: `FhirEverything` for `$everything`.
 */
export interface OperationDefinition {
  /** The name of the operation, without the `$`. */
  readonly code: string;
  /** The type that the operation belongs to: {@link ANY_TYPE} for all types, absent for a system operation. */
  readonly resourceType?: string;
  readonly level: 'system' | 'type' | 'instance';
  readonly methods: readonly ('GET' | 'POST')[];
  readonly description: string;
  /** Canonical of the published OperationDefinition that this operation implements, if there is one. */
  readonly definition?: string;
  /** A longer description of the operation, for the OpenAPI document. */
  readonly details?: string;
  /** The tag of the operation in the OpenAPI document. If absent, the common tag of operations is used. */
  readonly tag?: string;
  /**
   * Whether the handler enforces the granted rows (`GrantedReader`, `RowLimits`). If not, callers who are limited to
   * some rows are refused.
   */
  readonly enforcesRows?: boolean;
  /** Whether the operation can answer in NDJSON, one resource per line. */
  readonly hasLines?: true;
  /**
   * Whether the operation can answer with an HTML page. The page is then the default for callers that accept any
   * format.
   */
  readonly hasPage?: true;
  /** Whether the operation needs a Session, so that a caller cannot use HTTP Basic; for the OpenAPI document. */
  readonly needsSession?: true;
  /** An example id for an instance operation, for the OpenAPI document. */
  readonly exampleId?: string;
  /** An example body for POST, for the OpenAPI document. */
  readonly exampleBody?: object;
  /** The answer to the example, for the OpenAPI document. */
  readonly exampleAnswer?: object;
  /** The parts of the Parameters that the operation returns, for the OpenAPI document. */
  readonly answerParts?: AnswerParts;
  /** The query parameters of the operation, for the OpenAPI document. */
  readonly parameters?: readonly { readonly name: string; readonly description: string }[];
}

export const OPERATION: Members<OperationDefinition> = {
  code: 'string',
  'resourceType?': 'string',
  level: { oneOf: ['system', 'type', 'instance'] },
  methods: { each: { oneOf: ['GET', 'POST'] } },
  description: 'string',
  'definition?': 'string',
  'details?': 'string',
  'tag?': 'string',
  'enforcesRows?': 'boolean',
  'hasLines?': 'boolean',
  'hasPage?': 'boolean',
  'needsSession?': 'boolean',
  'exampleId?': 'string',
  'exampleBody?': 'object',
  'exampleAnswer?': 'object',
  'answerParts?': 'object',
  'parameters?': { each: { members: { name: 'string', description: 'string' } } },
};

/**
 * The parts of a Parameters resource, by name. Each has the type of its value, such as `decimal`, or nested parts. A
 * part may be absent, and may repeat.
 */
export interface AnswerParts {
  readonly [name: string]: string | AnswerParts;
}

/**
 * The values of an answer, by the names of its parts. Undefined and null values are left out. For an array, the answer
 * has the part once for each element.
 */
export type AnswerValues<Parts extends AnswerParts> = {
  readonly [Name in keyof Parts]?: Parts[Name] extends AnswerParts
    ? AnswerValues<Parts[Name]> | readonly AnswerValues<Parts[Name]>[] | null | undefined
    : unknown;
};

/** Returns the answer of an operation that declares its parts: the {@link answerParameters} with status 200. */
export const partsAnswer = <Parts extends AnswerParts>(parts: Parts, values: AnswerValues<Parts>): FhirAnswer => ({
  status: 200,
  text: JSON.stringify(answerParameters(parts, values)),
});

/**
 * Returns a Parameters resource with its parts in the declared order. Without values it has no `parameter`, since FHIR
 * allows no empty arrays.
 */
export function answerParameters<Parts extends AnswerParts>(parts: Parts, values: AnswerValues<Parts>): object {
  const parameter = printParts(parts, values);
  return { resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter }) };
}

const printParts = (parts: AnswerParts, values: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(parts).flatMap(([name, type]) => {
    const present = [values[name]].flat().filter((value) => value !== undefined && value !== null);
    return present.map((value) => printPart(name, type, value));
  });

const printPart = (name: string, type: string | AnswerParts, value: unknown): object =>
  typeof type === 'string'
    ? { name, [`value${capitalized(type)}`]: value }
    : { name, part: printParts(type, value as Readonly<Record<string, unknown>>) };

export interface OperationRequest {
  readonly method: 'GET' | 'POST';
  /**
   * The resource type in the URL; absent for system operations. An operation of {@link ANY_TYPE} must check that the
   * type exists.
   */
  readonly type?: string;
  /** The id in the URL; present for instance operations. It is syntactically valid, but the resource may not exist. */
  readonly id?: string;
  /** Query parameters in the order sent, including repeated ones. */
  readonly query: URLSearchParams;
  /** The body as it was sent; empty for GET. A YAML body is converted to JSON. */
  readonly body: Buffer;
  /** The headers, such as `Prefer` and `Accept`, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The base URL of links in the answer: the root that the request used, without a trailing slash. */
  readonly rootUrl: string;
  /** The format of the answer. Only operations that stream or write NDJSON need it. */
  readonly format: AnswerFormat;
}

/** The handler of an operation: a class registered by {@link Operation}. */
export interface OperationHandler {
  /** @throws ServiceError, which the FHIR edge converts to an OperationOutcome */
  execute(request: OperationRequest): Promise<FhirAnswer>;
}

/**
 * Registers an {@link OperationHandler}.
 * @example
 * &#64;Injectable()
 * &#64;Operation({ code: 'shift', level: 'system', methods: ['GET'], description: 'The present shift.' })
 * export class Shift implements OperationHandler {
 *   execute(): Promise<FhirAnswer> {
 *     return Promise.resolve({ status: 200, text: '{"shift":"late"}' });
 *   }
 * }
 */
export const Operation = DiscoveryService.createDecorator<OperationDefinition>();
