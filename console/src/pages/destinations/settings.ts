import { type Schemas } from 'svc-health-client';

type Destination = Schemas['SvcTopicDestination'];
type Parameter = NonNullable<Destination['parameter']>[number];

/** The text that replaces a stored secret in answers. A write that contains it keeps the stored secret. */
export const MASK = '***';

export interface HeaderText {
  readonly name: string;
  /** The value of the header; {@link MASK} keeps the stored one. */
  readonly value: string;
}

/** A webhook while it is edited; numbers are texts until they are checked. */
export interface Settings {
  readonly endpoint: string;
  readonly timeout: string;
  readonly keepAlive: string;
  readonly maxMessagesInBatch: string;
  readonly headers: readonly HeaderText[];
  readonly topic: string;
  readonly content: NonNullable<Destination['content']>;
  readonly includeEntryAction: boolean;
  readonly includeVersionIdInFocusReference: boolean;
}

export type Faults = Partial<Record<keyof Settings, string>>;

const NUMBERS = {
  timeout: ['valueUnsignedInt', 1, 86_400],
  keepAlive: ['valueInteger', -1, 86_400],
  maxMessagesInBatch: ['valueUnsignedInt', 1, 10_000],
} as const;
type NumberName = keyof typeof NUMBERS;
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[];

/** Reads a masked destination, as a search returns it, so that no secret reaches the browser. */
export function settingsOf(destination: Destination): Settings {
  const { topic, content = 'full-resource', parameter = [] } = destination;
  const valueOf = (name: string): string => {
    const found = parameter.find((one) => one.name === name);
    return found === undefined ? '' : String(found.valueUrl ?? found.valueUnsignedInt ?? found.valueInteger ?? '');
  };
  return {
    endpoint: valueOf('endpoint'),
    timeout: valueOf('timeout'),
    keepAlive: valueOf('keepAlive'),
    maxMessagesInBatch: valueOf('maxMessagesInBatch'),
    headers: parameter.filter(({ name }) => name === 'header').map(headerOf),
    topic,
    content,
    includeEntryAction: destination.includeEntryAction === true,
    includeVersionIdInFocusReference: destination.includeVersionIdInFocusReference === true,
  };
}

function headerOf({ valueString = '' }: Parameter): HeaderText {
  const colon = valueString.indexOf(':');
  return { name: valueString.slice(0, colon), value: MASK };
}

export const NO_SETTINGS: Settings = {
  ...{ endpoint: '', timeout: '', keepAlive: '', maxMessagesInBatch: '', headers: [], topic: '' },
  ...{ content: 'full-resource', includeEntryAction: false, includeVersionIdInFocusReference: false },
};

/** The kind of destination whose settings the console knows. */
export const WEBHOOK = 'webhook-at-least-once';

/**
 * A webhook that is not stored yet. The URL of its profile begins with the same scheme and host as the URL of the
 * topic.
 */
export function newDestination(id: string, settings: Settings, secret: string | undefined): Destination {
  const publisher = /^https?:\/\/[^/]+/.exec(settings.topic)?.[0] ?? 'urn:svc';
  const meta = { profile: [`${publisher}/StructureDefinition/svctopicdestination-${WEBHOOK}`] };
  const empty: Destination = { resourceType: 'SvcTopicDestination', id, meta, kind: WEBHOOK, topic: settings.topic };
  const { parameter = [], ...stored } = withSettings(empty, settings);
  const secrets = secret === undefined ? [] : [{ name: 'secret', valueString: secret }];
  return { ...stored, parameter: [...parameter, ...secrets] };
}

/** Number of signing secrets: two during a rotation. */
export const secretsOf = ({ parameter = [] }: Destination): number =>
  parameter.filter(({ name }) => name === 'secret').length;

/** The destination with other settings. Its secrets stay, and so do parameters that the form does not edit. */
export function withSettings(destination: Destination, settings: Settings): Destination {
  const { topic, content, includeEntryAction, includeVersionIdInFocusReference } = settings;
  const stored = destination.parameter ?? [];
  const edited: Parameter[] = [
    { name: 'endpoint', valueUrl: settings.endpoint },
    ...NUMBER_NAMES.filter((name) => settings[name] !== '').map((name) => ({
      name,
      [NUMBERS[name][0]]: Number(settings[name]),
    })),
    ...settings.headers.map(({ name, value }) => ({ name: 'header', valueString: `${name}: ${value}` })),
  ];
  const parameter = [
    ...edited.map((one) => ({ ...stored.find((other) => placeOf(other) === placeOf(one)), ...one })),
    ...stored.filter(({ name }) => !EDITED.has(name)),
  ];
  return { ...destination, topic, content, includeEntryAction, includeVersionIdInFocusReference, parameter };
}

const EDITED = new Set<string>(['endpoint', 'header', ...NUMBER_NAMES]);

/**
 * The key of a parameter. Two values of the same parameter have the same key. Two headers have the same key if their
 * names are equal.
 */
const placeOf = (parameter: Parameter): string =>
  parameter.name === 'header' ? `header ${headerOf(parameter).name}` : parameter.name;

/** The destination with other secrets: each a new text, or {@link MASK} to keep a stored one. */
export const withSecrets = (destination: Destination, secrets: readonly string[]): Destination => ({
  ...destination,
  parameter: [
    ...(destination.parameter ?? []).filter(({ name }) => name !== 'secret').map(maskedHeader),
    ...secrets.map((valueString) => ({ name: 'secret', valueString })),
  ],
});

const maskedHeader = (parameter: Parameter): Parameter =>
  parameter.name === 'header' ? { ...parameter, valueString: `${headerOf(parameter).name}: ${MASK}` } : parameter;

/** The faults of settings that the server would refuse, each shown beside its field. */
export function faultsOf(settings: Settings): Faults {
  const faults: { -readonly [Name in keyof Faults]: string } = {};
  if (!/^https?:\/\/[^/]/i.test(settings.endpoint) || !URL.canParse(settings.endpoint))
    faults.endpoint = 'An absolute http or https URL.';
  else if (new URL(settings.endpoint).username !== '' || new URL(settings.endpoint).hash !== '')
    faults.endpoint = 'No user, password or fragment: send credentials in a header.';
  for (const name of NUMBER_NAMES) {
    const [, least, most] = NUMBERS[name];
    const text = settings[name];
    const number = Number(text);
    if (text !== '' && (!/^-?\d+$/.test(text) || number < least || number > most))
      faults[name] = `A whole number from ${least} to ${most.toLocaleString('en')}.`;
  }
  if (settings.headers.some(({ name }) => !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)))
    faults.headers = 'A header has a name of letters, digits and hyphens.';
  if (!/^\S+$/.test(settings.topic)) faults.topic = 'The canonical URL of a topic.';
  return faults;
}

/** The field that the server's refusal concerns; undefined if it concerns none of them. */
export function fieldOf(message: string): keyof Settings | undefined {
  const names = [...NUMBER_NAMES, 'endpoint', 'topic', 'content'] as const;
  if (/\bheaders?\b/.test(message)) return 'headers';
  return names.find((name) => new RegExp(`^${name}\\b|of ${name}\\b`).test(message));
}

/** 32 random bytes in the format of Standard Webhooks. */
export function newSecret(): string {
  const random = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...random))}`;
}
