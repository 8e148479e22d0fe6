import { DiscoveryService } from '@nestjs/core';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type AnswerFormat } from '../fhir/edge/format';

/**
 * Placeholder for any resource type: the operation can be called on all of them.
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
 * Address and properties of an operation (http://hl7.org/fhir/R4/operations.html). An AccessPolicy links to it by
 * `Fhir` and its code: `$everything` is the Operation `FhirEverything`.
 */
export interface OperationDefinition {
  /** Without the `$`. */
  readonly code: string;
  /** Absent for a system operation; {@link ANY_TYPE} for all types. */
  readonly resourceType?: string;
  readonly level: 'system' | 'type' | 'instance';
  readonly methods: readonly ('GET' | 'POST')[];
  readonly description: string;
  /** Canonical of the published OperationDefinition that it implements, if any. */
  readonly definition?: string;
  /** A longer description, for the OpenAPI document. */
  readonly details?: string;
  /** Its tag in the OpenAPI document; if absent, that of all operations. */
  readonly tag?: string;
  /**
   * Whether the handler enforces the granted rows (`GrantedReader`, `RowLimits`). If not, callers who are limited to
   * some rows are refused.
   */
  readonly enforcesRows?: boolean;
  /** Whether it can answer in NDJSON, one resource per line. */
  readonly hasLines?: true;
  /** Whether it can answer with an HTML page, which is then the default for callers that accept any format. */
  readonly hasPage?: true;
  /** Whether it needs a Session, so that HTTP Basic does not do, for the OpenAPI document. */
  readonly needsSession?: true;
  /** An example id for an instance operation, for the OpenAPI document. */
  readonly exampleId?: string;
  /** An example body for POST, for the OpenAPI document. */
  readonly exampleBody?: object;
  /** The answer to the example, for the OpenAPI document. */
  readonly exampleAnswer?: object;
  /** Parts of the returned Parameters, for the OpenAPI document. */
  readonly answerParts?: AnswerParts;
  /** Query parameters, for the OpenAPI document. */
  readonly parameters?: readonly { readonly name: string; readonly description: string }[];
}

/**
 * Parts of Parameters by name: the type of the value, such as `decimal`, or nested parts. Each part may be absent or
 * repeat.
 */
export interface AnswerParts {
  readonly [name: string]: string | AnswerParts;
}

/** Values of an answer by the names of its parts. Absent ones and nulls are left out; an array repeats its part. */
export type AnswerValues<Parts extends AnswerParts> = {
  readonly [Name in keyof Parts]?: Parts[Name] extends AnswerParts
    ? AnswerValues<Parts[Name]> | readonly AnswerValues<Parts[Name]>[] | null | undefined
    : unknown;
};

/** The answer of an operation that declares its parts: {@link answerParameters} with status 200. */
export const partsAnswer = <Parts extends AnswerParts>(parts: Parts, values: AnswerValues<Parts>): FhirAnswer => ({
  status: 200,
  text: JSON.stringify(answerParameters(parts, values)),
});

/** Parameters in the order of the declared parts. FHIR has no empty arrays. */
export function answerParameters<Parts extends AnswerParts>(parts: Parts, values: AnswerValues<Parts>): object {
  const parameter = printParts(parts, values);
  return { resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter }) };
}

const printParts = (parts: AnswerParts, values: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(parts).flatMap(([name, type]) =>
    [values[name]]
      .flat()
      .flatMap((value) => (value === undefined || value === null ? [] : [printPart(name, type, value)])),
  );

const printPart = (name: string, type: string | AnswerParts, value: unknown): object =>
  typeof type === 'string'
    ? { name, [`value${type.charAt(0).toUpperCase()}${type.slice(1)}`]: value }
    : { name, part: printParts(type, value as Readonly<Record<string, unknown>>) };

/** One call of an operation. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST';
  /** The resource type in the URL; absent for system operations. Operations of any type check that it is known. */
  readonly type?: string;
  /** Present for instance operations; syntactically valid, but the resource may not exist. */
  readonly id?: string;
  /** Query parameters in the order sent, including repeated ones. */
  readonly query: URLSearchParams;
  /** Raw body; empty for GET. */
  readonly body: Buffer;
  /** Headers such as `Prefer` and `Accept`; names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Base of links in the answer: the root of the request, without a trailing slash. */
  readonly rootUrl: string;
  /** The format of the answer; only operations that stream or write lines need it. */
  readonly format: AnswerFormat;
}

/** One `$operation`: a class registered by {@link Operation}. */
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
