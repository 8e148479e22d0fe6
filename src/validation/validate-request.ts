import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { elementsOf, membersOf } from '../platform/json/json-members';
import { readJson, type ScannedJson } from '../platform/json/read-json';

const MODES = ['create', 'update', 'delete', 'profile'] as const;

/** What `$validate` is asked (http://hl7.org/fhir/R4/resource-operation-validate.html). */
export interface ValidateRequest {
  readonly mode: (typeof MODES)[number] | undefined;
  /** Canonicals of profiles beside those of `meta.profile`. */
  readonly profiles: readonly string[];
  /** Absent where a stored one is meant. */
  readonly resource?: ScannedJson;
}

/**
 * Reads the body and the query: the resource itself, or Parameters with `resource`, `mode` and `profile`.
 * @throws ServiceError 'invalid' for what is neither; JsonBodyError for broken text.
 */
export function readValidateRequest(type: string, body: Buffer, query: URLSearchParams): ValidateRequest {
  const sent = body.length === 0 ? undefined : readJson(decodeUtf8(body));
  // Parameters are validated themselves on their own route.
  const isWrapped =
    type !== 'Parameters' && (sent?.value as Partial<Resource> | null | undefined)?.resourceType === 'Parameters';
  const parameters = isWrapped && sent !== undefined ? parametersIn(sent) : [];
  const wrapped = parameters.find(({ name }) => name === 'resource')?.resource;
  const resource = isWrapped ? wrapped : sent;
  const texts = (name: string): string[] => [
    ...query.getAll(name),
    ...parameters
      .filter((parameter) => parameter.name === name)
      .flatMap(({ text }) => (text === undefined ? [] : [text])),
  ];
  return {
    mode: modeOf(texts('mode')[0]),
    profiles: texts('profile'),
    ...(resource === undefined ? {} : { resource }),
  };
}

interface Parameter {
  readonly name: unknown;
  readonly text: string | undefined;
  readonly resource: ScannedJson | undefined;
}

/** The resource keeps its text: its digits are what is validated. */
function parametersIn(sent: ScannedJson): readonly Parameter[] {
  const list = sent.members().find(({ key }) => key === 'parameter')?.valueText ?? '[]';
  if (!list.startsWith('[')) throw new ServiceError('invalid', 'Parameters.parameter must be an array.');
  return elementsOf(list).map((text) => {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    const resource = text.startsWith('{')
      ? membersOf(text).find(({ key }) => key === 'resource')?.valueText
      : undefined;
    const found = value?.valueCode ?? value?.valueUri ?? value?.valueCanonical ?? value?.valueString;
    return {
      name: value?.name,
      text: typeof found === 'string' ? found : undefined,
      resource: resource === undefined ? undefined : readJson(resource),
    };
  });
}

function modeOf(text: string | undefined): ValidateRequest['mode'] {
  const mode = MODES.find((known) => known === text);
  if (text !== undefined && mode === undefined) {
    throw new ServiceError('invalid', `mode must be one of ${MODES.join(', ')}.`, { expression: 'mode' });
  }
  return mode;
}
