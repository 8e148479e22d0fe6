import { type Resource } from '../fhir/types';
import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { ServiceError } from '../platform/errors/service-error';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { elementsOf, membersOf } from '../platform/json/json-members';
import { readJsonInSteps, type ScannedJson } from '../platform/json/read-json';
import { type Steps } from '../platform/time/steps';

const MODES = ['create', 'update', 'delete', 'profile'] as const;

/** A request of `$validate` (http://hl7.org/fhir/R4/resource-operation-validate.html). */
export interface ValidateRequest {
  readonly mode: (typeof MODES)[number] | undefined;
  /** Canonicals of profiles, in addition to those in `meta.profile`. */
  readonly profiles: readonly string[];
  /** The sent resource; absent if the stored one is to be validated. */
  readonly resource?: ScannedJson;
}

/**
 * Reads body and query of a request. The body is the resource itself, or Parameters with `resource`, `mode` and
 * `profile`. A Parameters resource may also be the resource to validate. It is read as the request if it has a
 * parameter with one of these three names.
 * @param type type in the URL; undefined for the whole system
 * @throws ServiceError 'invalid' if the body is neither, or for an unknown query parameter; JsonBodyError for broken
 *   text
 */
export function* readValidateRequest(
  type: string | undefined,
  body: Buffer,
  query: URLSearchParams,
  prefer: string | undefined,
): Steps<ValidateRequest> {
  assertKnownParameters('$validate', query, ['mode', 'profile', ...SHAPE_PARAMETERS], prefer);
  const sent = body.length === 0 ? undefined : yield* readJsonInSteps(decodeUtf8(body));
  const isWrapped = isRequest(sent?.value, type === undefined || type === 'Parameters');
  const parameters = isWrapped && sent !== undefined ? yield* parametersIn(sent) : [];
  const wrapped = parameters.find(({ name }) => name === 'resource')?.resource;
  const resource = isWrapped ? wrapped : sent;
  const texts = (name: string): string[] => [
    ...query.getAll(name),
    ...parameters.flatMap((one) => (one.name === name && one.text !== undefined ? [one.text] : [])),
  ];
  return {
    mode: modeOf(texts('mode')[0]),
    profiles: texts('profile'),
    ...(resource === undefined ? {} : { resource }),
  };
}

const NAMES: readonly unknown[] = ['resource', 'mode', 'profile'];

function isRequest(value: unknown, mayBeContent: boolean): boolean {
  const { resourceType, parameter } = (value ?? {}) as Partial<Resource>;
  if (resourceType !== 'Parameters') return false;
  if (!mayBeContent || !Array.isArray(parameter)) return true;
  return parameter.some((one: unknown) => NAMES.includes((one as { readonly name?: unknown } | null)?.name));
}

interface Parameter {
  readonly name: unknown;
  readonly text: string | undefined;
  readonly resource: ScannedJson | undefined;
}

/** The parameters of a request. The resource in it keeps its text, since its digits are validated. */
function* parametersIn(sent: ScannedJson): Steps<readonly Parameter[]> {
  const list = sent.members().find(({ key }) => key === 'parameter')?.valueText ?? '[]';
  if (!list.startsWith('[')) throw new ServiceError('invalid', 'Parameters.parameter must be an array.');
  const parameters: Parameter[] = [];
  for (const text of elementsOf(list)) {
    yield;
    const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    const resource = text.startsWith('{')
      ? membersOf(text).find(({ key }) => key === 'resource')?.valueText
      : undefined;
    const found = value?.valueCode ?? value?.valueUri ?? value?.valueCanonical ?? value?.valueString;
    parameters.push({
      name: value?.name,
      text: typeof found === 'string' ? found : undefined,
      resource: resource === undefined ? undefined : yield* readJsonInSteps(resource),
    });
  }
  return parameters;
}

function modeOf(text: string | undefined): ValidateRequest['mode'] {
  const mode = MODES.find((known) => known === text);
  if (text !== undefined && mode === undefined)
    throw parameterInvalid(`mode must be one of ${MODES.join(', ')}.`, 'mode');
  return mode;
}
