import { ServiceError } from '../../platform/errors/service-error';
import { MAX_BATCH_EVENTS } from '../batch-row';
import { type DeliverySettings, type DestinationParameter, MASK } from '../delivery-kind';
import { maskedEndpoint, takeFirst, unmaskedEndpoint } from './endpoint-query';
import { readEndpointUrl } from './endpoint-url';
import { type HeaderLine, parseHeaderLine } from './header-line';
import { signingKeyOf } from './webhook-signature';
import { addTo } from '../../platform/lists-by-key';

export interface WebhookSettings extends DeliverySettings {
  readonly endpoint: string;
  /** How long an idle connection stays open. With 0, each request opens a new connection. */
  readonly keepAliveSeconds: number;
  /** The configured headers, in the given order. A name may occur more than once. */
  readonly headers: readonly HeaderLine[];
  /** Secrets that sign every request, if there are any: two while a receiver changes from one to the other. */
  readonly secrets: readonly string[];
}

/** The parameters of a webhook, each with its `value[x]`. `secret` is an extension of the interface specification. */
const VALUE_FIELDS = {
  endpoint: 'valueUrl',
  timeout: 'valueUnsignedInt',
  keepAlive: 'valueInteger',
  maxMessagesInBatch: 'valueUnsignedInt',
  header: 'valueString',
  secret: 'valueString',
} as const;
type ParameterName = keyof typeof VALUE_FIELDS;
type ParameterValues = ReadonlyMap<ParameterName, readonly unknown[]>;

/** Default, minimum and maximum. Nobody needs more than a day (86,400 s), and timers of Node end at 2^31 ms. */
const WHOLE_NUMBERS = {
  timeout: [30, 1, 86_400],
  keepAlive: [120, -1, 86_400],
  maxMessagesInBatch: [20, 1, MAX_BATCH_EVENTS],
} as const;

/** Limits of the configured headers. Common servers accept a request head of this size. */
const MAX_HEADERS = 64;
const MAX_HEADER_BYTES = 8 * 1024;

const MAX_SECRETS = 2;

const NO_QUERY_VALUE = `${MASK} in the query of endpoint keeps a stored value of the same name and host, and there is none. Send the value.`;

/**
 * Reads the parameters of a webhook. A masked value of a header, or in the query of the endpoint, keeps its current
 * value.
 * @throws ServiceError 'unprocessable' that names the parameter and says what to do
 */
export function webhookSettingsOf(
  parameters: readonly DestinationParameter[],
  inForce: WebhookSettings | undefined,
): WebhookSettings {
  const values = valuesOf(parameters);
  return {
    endpoint: unmaskedEndpoint(endpointOf(single(values, 'endpoint')), inForce?.endpoint) ?? refuse(NO_QUERY_VALUE),
    timeoutSeconds: wholeNumberOf(values, 'timeout'),
    keepAliveSeconds: Math.max(0, wholeNumberOf(values, 'keepAlive')),
    maxMessagesInBatch: wholeNumberOf(values, 'maxMessagesInBatch'),
    headers: headersOf(values.get('header') ?? [], inForce?.headers ?? []),
    secrets: secretsOf(values.get('secret') ?? [], inForce?.secrets ?? []),
  };
}

/** Masks a secret, the value of a header, and the values in the query of the endpoint. */
export function maskedParameter(parameter: DestinationParameter): DestinationParameter {
  const { valueString: line, valueUrl: url } = parameter;
  if (parameter.name === 'endpoint' && typeof url === 'string' && url.includes('?'))
    return { ...parameter, valueUrl: maskedEndpoint(url) };
  if (parameter.name === 'secret') return { ...parameter, valueString: MASK };
  if (parameter.name !== 'header' || typeof line !== 'string') return parameter;
  return { ...parameter, valueString: `${line.slice(0, line.indexOf(':'))}: ${MASK}` };
}

/** Unmasks the values of headers and of the endpoint's query. `secret` is never shown, so it stays masked. */
export function unmaskedParameters(
  parameters: readonly DestinationParameter[],
  { endpoint, headers }: WebhookSettings,
): DestinationParameter[] {
  const known = [...headers];
  return parameters.map((parameter) => {
    const { valueUrl: url } = parameter;
    if (parameter.name === 'endpoint' && typeof url === 'string' && url.includes('?'))
      return { ...parameter, valueUrl: unmaskedEndpoint(url, endpoint) ?? url };
    if (parameter.name !== 'header') return parameter;
    const [name = ''] = String(parameter.valueString).split(':');
    const header = take(known, name);
    return header === undefined ? parameter : { ...parameter, valueString: `${name}: ${header.value}` };
  });
}

function valuesOf(parameters: readonly DestinationParameter[]): ParameterValues {
  const values = new Map<ParameterName, unknown[]>();
  for (const parameter of parameters) {
    const { name } = parameter;
    if (!isParameterName(name))
      refuse(`"${name.slice(0, 64)}" is no parameter of a webhook. It has ${Object.keys(VALUE_FIELDS).join(', ')}.`);
    const field = VALUE_FIELDS[name];
    const others = Object.keys(parameter).filter((member) => !['name', field, 'id', 'extension'].includes(member));
    if (!(field in parameter) || others.length > 0) refuse(`${name} takes its value in ${field}, and nothing else.`);
    addTo(values, name, parameter[field]);
  }
  return values;
}

const isParameterName = (name: string): name is ParameterName => Object.hasOwn(VALUE_FIELDS, name);

function single(values: ParameterValues, name: ParameterName): unknown {
  const [value, ...more] = values.get(name) ?? [];
  if (more.length > 0) refuse(`${name} may appear only once.`);
  return value;
}

/** @throws ServiceError 'unprocessable' for a value that is not a usable URL */
export function endpointOf(value: unknown): string {
  if (value === undefined) refuse('endpoint is required: the URL that events are sent to, in valueUrl.');
  if (typeof value !== 'string') refuse('endpoint must be a URL, in valueUrl.');
  const url = readEndpointUrl(value);
  if (typeof url === 'string') refuse(`endpoint ${url}.`);
  return url.href;
}

function wholeNumberOf(values: ParameterValues, name: keyof typeof WHOLE_NUMBERS): number {
  const [fallback, least, most] = WHOLE_NUMBERS[name];
  const value = single(values, name);
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  refuse(`${name} must be a whole number from ${least} to ${most}.`);
}

function headersOf(values: readonly unknown[], inForce: readonly HeaderLine[]): HeaderLine[] {
  if (values.length > MAX_HEADERS) refuse(`There may be at most ${MAX_HEADERS} header parameters.`);
  const known = [...inForce];
  const headers = values.map((value) => {
    if (typeof value !== 'string') refuse('header must be a string: "Name: value".');
    const header = parseHeaderLine(value);
    if (typeof header === 'string') refuse(`A header ${header}.`);
    if (header.value !== MASK) return header;
    const { value: stored } =
      take(known, header.name) ??
      refuse(`${MASK} keeps a stored value, and there is none for the header ${header.name}. Send the value.`);
    return { ...header, value: stored };
  });
  const sizeBytes = headers.reduce((sum, { name, value }) => sum + name.length + value.length + 4, 0);
  if (sizeBytes > MAX_HEADER_BYTES) refuse(`All headers together may have at most ${MAX_HEADER_BYTES} bytes.`);
  return headers;
}

const take = (known: HeaderLine[], name: string): HeaderLine | undefined =>
  takeFirst(known, (header) => header.name.toLowerCase() === name.toLowerCase());

/** Reads the secrets. Masks keep the current secrets, which are taken in order. */
function secretsOf(values: readonly unknown[], inForce: readonly string[]): string[] {
  if (values.length > MAX_SECRETS)
    refuse(`secret may appear at most ${MAX_SECRETS} times: the new one and the old one, while they change.`);
  const known = [...inForce];
  return values.map((value) => {
    if (value === MASK)
      return known.shift() ?? refuse(`${MASK} keeps a stored secret, and there is none. Send the secret.`);
    if (typeof value === 'string' && signingKeyOf(value) !== undefined) return value;
    refuse('secret must be 24 to 64 random bytes in base64, such as "openssl rand -base64 32" makes.');
  });
}

function refuse(message: string): never {
  throw new ServiceError('destination-invalid', message, { expression: 'SvcTopicDestination.parameter' });
}
