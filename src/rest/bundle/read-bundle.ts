import { membersOfType } from '../../fhir/definitions/definitions';
import { type KindedCode } from '../../platform/errors/error-codes';
import { ServiceError } from '../../platform/errors/service-error';
import { compactJsonInSteps } from '../../platform/json/compact-json';
import { elementsOf, membersOf } from '../../platform/json/json-members';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { type Steps } from '../../platform/time/steps';
import { type Bundle, type BundleEntry, type BundleType, type EntryRequest, type EntryResource } from './bundle';
import { EntryFaults, faultAt } from './entry-faults';

/** Maximum number of levels of a Bundle. A resource in it may be as deep as a resource sent alone. */
const MAX_DEPTH = 64 + 3;

const TYPES: readonly BundleType[] = ['transaction', 'batch', 'collection'];
const REQUEST_MEMBERS = ['method', 'url', 'ifMatch', 'ifNoneMatch', 'ifModifiedSince', 'ifNoneExist'] as const;

const BY_VERSION = ['ifMatch', 'ifNoneMatch'];
/** The conditions that a request of each method may have. */
const CONDITIONS = new Map([
  ['GET', ['ifNoneMatch', 'ifModifiedSince']],
  ['POST', ['ifNoneExist']],
  ['PUT', BY_VERSION],
  ['PATCH', BY_VERSION],
  ['DELETE', BY_VERSION],
]);

/**
 * Reads a Bundle to process. Resources stay text until their references are known. Malformed entries of a transaction
 * are collected in its `faults`, which are reported together with faults found later.
 * @throws ServiceError 'invalid' or 'too-large'; JsonBodyError for hostile or broken text
 */
export function* readBundle(text: string, maxEntries: number): Steps<Bundle> {
  const compact = yield* compactJsonInSteps(text, MAX_DEPTH);
  yield;
  const members = new Map(membersOf(compact).map(({ key, valueText }) => [key, valueText]));
  if (stringOf(members.get('resourceType')) !== 'Bundle')
    throw faultAt('resourceType', 'Send a Bundle: a JSON object with "resourceType": "Bundle".', 'bundle-invalid');
  const named = stringOf(members.get('type'));
  const type = TYPES.find((known) => known === named);
  if (type === undefined)
    throw faultAt('Bundle.type', `Bundle.type must be one of ${TYPES.join(', ')}.`, 'bundle-invalid');
  assertKnown('Bundle', members.keys(), 'Bundle', 'bundle-invalid');
  const entryText = members.get('entry') ?? '[]';
  if (!entryText.startsWith('[')) throw faultAt('Bundle.entry', 'Bundle.entry must be a list.', 'bundle-invalid');
  const entries = elementsOf(entryText);
  if (entries.length > maxEntries)
    throw faultAt(
      'Bundle.entry',
      `A Bundle has at most ${maxEntries} entries here; send it in parts.`,
      'bundle-too-many-entries',
    );
  const read: BundleEntry[] = [];
  const faults = new EntryFaults();
  for (const [index, text] of entries.entries()) {
    yield;
    const entry = faults.atSync(index, () => entryOf(text, index, type));
    if (entry !== undefined) read.push(entry);
  }
  if (type === 'batch') faults.throwIfAny();
  return { type, entries: read, faults };
}

function entryOf(text: string, index: number, type: BundleType): BundleEntry {
  const members = new Map(membersOf(text).map(({ key, valueText }) => [key, valueText]));
  assertKnown('Bundle.entry', members.keys(), '');
  const resource = resourceOf(members.get('resource'));
  const request = type === 'collection' ? storingRequest(resource) : requestOf(members.get('request'));
  return { index, fullUrl: stringOf(members.get('fullUrl')), resource, request };
}

function resourceOf(text: string | undefined): EntryResource | undefined {
  if (text === undefined) return undefined;
  if (!text.startsWith('{')) throw faultAt('resource', 'The resource must be an object.');
  const members = membersOf(text);
  const valueOf = (name: string): string | undefined => stringOf(members.find(({ key }) => key === name)?.valueText);
  return { type: valueOf('resourceType'), id: valueOf('id'), members };
}

function requestOf(text: string | undefined): EntryRequest {
  if (text?.startsWith('{') !== true)
    throw faultAt('request', 'The entry has no request. Add one, such as {"method": "PUT", "url": "Patient/p7"}.');
  const value = JSON.parse(text) as Record<string, unknown>;
  assertKnown('Bundle.entry.request', Object.keys(value), 'request');
  const found: Partial<Record<(typeof REQUEST_MEMBERS)[number], string>> = {};
  for (const name of REQUEST_MEMBERS) {
    const member = value[name];
    if (member === undefined) continue;
    if (typeof member !== 'string') throw faultAt('request', `request.${name} must be a string.`);
    found[name] = member;
  }
  const { method, url, ...conditions } = found;
  if (method === undefined)
    throw faultAt('request.method', 'request.method is missing. Add GET, POST, PUT, PATCH or DELETE.');
  if (url === undefined) throw faultAt('request.url', 'request.url is missing. Add one, such as Patient/p7.');
  assertSupported(method, Object.keys(conditions));
  return { method, url, ...conditions };
}

/** Refuses a condition that the method does not support: the entry would run also where it should be prevented. */
function assertSupported(method: string, conditions: readonly string[]): void {
  const supported = CONDITIONS.get(method);
  const other = conditions.find((name) => supported?.includes(name) === false);
  if (supported !== undefined && other !== undefined)
    throw faultAt(`request.${other}`, `${method} does not support ${other}. It supports ${supported.join(' and ')}.`);
}

/** Refuses a misspelt member: without `entry` nothing would be stored, without `ifMatch` another version replaced. */
function assertKnown(type: string, names: Iterable<string>, at: string, code?: KindedCode): void {
  const known = membersOfType(type);
  for (const name of names) {
    if (name === 'resourceType' || known?.has(name.replace(/^_/, '')) !== false) continue;
    const hint = didYouMean(nearestCode(name, known.keys()), ` It has ${[...known.keys()].join(', ')}.`);
    throw faultAt(at, `${type} has no member "${name.slice(0, 64)}".${hint}`, code);
  }
}

/**
 * Makes a request for an entry of a collection, which has none. The request stores the resource under its id, or under
 * a new id if it has none.
 */
function storingRequest(resource: EntryResource | undefined): EntryRequest {
  if (resource?.type === undefined)
    throw new ServiceError(
      'bundle-entry-invalid',
      'The entry has no resource to store. Add one with its resourceType, or leave the entry out.',
    );
  const { type, id } = resource;
  return id === undefined ? { method: 'POST', url: type } : { method: 'PUT', url: `${type}/${id}` };
}

const stringOf = (text: string | undefined): string | undefined =>
  text?.startsWith('"') === true ? (JSON.parse(text) as string) : undefined;
