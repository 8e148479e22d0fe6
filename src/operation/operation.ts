import { DiscoveryService } from '@nestjs/core';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type AnswerFormat } from '../fhir/edge/format';

/** Stands for any resource type: the operation is called on all of them. */
export const ANY_TYPE = '{type}';

/**
 * Where and how an operation is called (http://hl7.org/fhir/R4/operations.html).
 * An AccessPolicy links to it by `Fhir` and its code: `$everything` is the Operation `FhirEverything`.
 */
export interface OperationDefinition {
  /** Without the `$`. */
  readonly code: string;
  /** Absent for a system operation; {@link ANY_TYPE} for all types. */
  readonly resourceType?: string;
  readonly level: 'system' | 'type' | 'instance';
  readonly methods: readonly ('GET' | 'POST')[];
  readonly description: string;
  /** Canonical of the OperationDefinition that it follows, where one is published. */
  readonly definition?: string;
  /** What a line does not hold, for the OpenAPI document. */
  readonly details?: string;
  /** Where the OpenAPI document lists it; among all operations where absent. */
  readonly tag?: string;
  /**
   * Whether the handler keeps to the rows that are granted (`GrantedReader`, `RowLimits`); without it, callers who are
   * limited to some are refused.
   */
  readonly enforcesRows?: boolean;
  /** Whether it can answer in NDJSON, one resource a line. */
  readonly hasLines?: true;
  /** Whether it can answer with a page for people, which is the answer to whoever takes anything. */
  readonly hasPage?: true;
  /** An id to try an instance operation with, for the OpenAPI document. */
  readonly exampleId?: string;
  /** A body to try POST with, for the OpenAPI document. */
  readonly exampleBody?: object;
  /** What the example is answered with, for the OpenAPI document. */
  readonly exampleAnswer?: object;
  /** Parts of the Parameters that it answers with, for the OpenAPI document. */
  readonly answerParts?: AnswerParts;
  /** Query parameters, for the OpenAPI document. */
  readonly parameters?: readonly { readonly name: string; readonly description: string }[];
}

/** Parts of Parameters by name: the type of the value, such as `decimal`, or the parts of the part. Each part may be absent or repeat. */
export interface AnswerParts {
  readonly [name: string]: string | AnswerParts;
}

export interface OperationRequest {
  readonly method: 'GET' | 'POST';
  /** The resource type that was called; absent for system operations. Operations of any type check that it is known. */
  readonly type?: string;
  /** Present for instance operations; syntactically valid, existence is not checked. */
  readonly id?: string;
  /** Query parameters in the order sent, repeated ones included. */
  readonly query: URLSearchParams;
  /** Raw body; empty for GET. */
  readonly body: Buffer;
  /** `Prefer` and `Accept` among others; lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** What links of the answer begin with: the root that was called, without a trailing slash. */
  readonly rootUrl: string;
  /** What the answer will be written in; only an operation that streams or writes lines needs to know. */
  readonly format: AnswerFormat;
}

/** One `$operation`: a class of its own, registered by {@link Operation}. */
export interface OperationHandler {
  /** @throws ServiceError, which the FHIR edge turns into an OperationOutcome. */
  execute(request: OperationRequest): Promise<FhirAnswer>;
}

/** Registers an {@link OperationHandler}. */
export const Operation = DiscoveryService.createDecorator<OperationDefinition>();
