import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { parseReference } from '../../fhir/reference';
import { type ItemCheck } from './binding-check';
import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';
import { type ValidationRun } from './validation-run';

const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/;
const RESTFUL = /^(https?:\/\/\S*\/)([A-Z][A-Za-z]*)\/([A-Za-z0-9.-]{1,64})$/;
/**
 * Relations of links that may occur once in a Bundle: those for paging
 * (https://www.iana.org/assignments/link-relations). Other links, such as those to stylesheets, may repeat.
 */
const ONCE: readonly unknown[] = ['self', 'first', 'previous', 'prev', 'next', 'last'];

/** Checks rules for a Bundle that R4 states in prose (http://hl7.org/fhir/R4/bundle.html). */
export const checkBundle: ItemCheck = (bundle, run) => {
  if (!isObject(bundle)) return;
  const entries = objectsIn(bundle.entry);
  checkLinks(objectsIn(bundle.link), run);
  for (const [index, entry] of entries.entries()) {
    const fault = fullUrlFaultOf(entry, bundle.type);
    if (fault !== undefined) run.reportAt(['entry', index, 'fullUrl'], 'value', fault);
    const found = bundle.type === 'searchset' ? searchFaultOf(entry) : undefined;
    if (found !== undefined) run.reportAt(['entry', index, 'resource'], 'value', found);
  }
  if (bundle.type === 'document') checkDocument(entries, run);
};

function checkLinks(links: readonly PlainObject[], run: ValidationRun): void {
  const seen = new Set<unknown>();
  for (const [index, { relation }] of links.entries()) {
    if (ONCE.includes(relation) && seen.has(relation))
      run.reportAt(['link', index, 'relation'], 'value', `A Bundle has one link "${String(relation)}" at most.`);
    seen.add(relation);
  }
}

/**
 * The fault of a `fullUrl`. It must be absolute. In a document it must also agree with the id
 * (http://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.fullUrl). In other Bundles it need not, since HL7's own
 * examples of searches and collections do not agree.
 */
function fullUrlFaultOf({ fullUrl, resource }: PlainObject, bundleType: unknown): string | undefined {
  if (typeof fullUrl !== 'string') return undefined;
  if (!ABSOLUTE.test(fullUrl))
    return 'It must be an absolute URL, such as "https://…/Patient/1" or "urn:uuid:…" with a UUID.';
  const [, , type = '', id] = RESTFUL.exec(fullUrl) ?? [];
  if (bundleType !== 'document' || !isR4ResourceType(type) || !isObject(resource)) return undefined;
  return type === resource.resourceType && id === resource.id
    ? undefined
    : `It must end with the type and id of the resource: "/${String(resource.resourceType)}/${typeof resource.id === 'string' ? resource.id : '…'}".`;
}

function searchFaultOf({ resource, search }: PlainObject): string | undefined {
  if (!isObject(resource)) return undefined;
  const isOutcome = resource.resourceType === 'OperationOutcome';
  const mode = isObject(search) ? search.mode : undefined;
  if (mode === 'outcome' && !isOutcome) return 'With search.mode "outcome" it must be an OperationOutcome.';
  if (mode === 'match' && isOutcome) return 'An OperationOutcome is no match. Its search.mode must be "outcome".';
  return isOutcome || resource.id !== undefined ? undefined : 'A resource that a search found must have an id.';
}

/**
 * A document holds the targets of the Composition's direct references (http://hl7.org/fhir/R4/documents.html#content).
 */
function checkDocument(entries: readonly PlainObject[], run: ValidationRun): void {
  const [first] = entries;
  const composition = first?.resource;
  if (!isObject(composition) || composition.resourceType !== 'Composition') return;
  const versions = new Map<unknown, unknown[]>();
  for (const { fullUrl, resource } of entries) {
    const meta = isObject(resource) ? resource.meta : undefined;
    const known = versions.get(fullUrl) ?? [];
    known.push(isObject(meta) ? meta.versionId : undefined);
    versions.set(fullUrl, known);
  }
  const base = RESTFUL.exec(String(first?.fullUrl))?.[1] ?? '';
  for (const { value, path } of directReferencesOf(composition)) {
    const target = typeof value.reference === 'string' ? parseReference(value.reference, '') : undefined;
    if (target === undefined || target.kind === 'contained') continue;
    const found = versions.get(target.kind === 'local' ? `${base}${target.key}` : target.key) ?? [];
    const version = 'version' in target ? target.version : undefined;
    if (version === undefined ? found.length > 0 : found.includes(version)) continue;
    run.reportAt(
      ['entry', 0, 'resource', ...path, 'reference'],
      'value',
      'No entry of the document has this URL as fullUrl. Relative references start from the base of the fullUrl of the Composition.',
    );
  }
}

interface Placed {
  readonly value: PlainObject;
  readonly path: readonly (string | number)[];
}

/**
 * Members of a Composition whose targets must be in its document. relatesTo is not one of them, since it names other
 * documents.
 */
const DIRECT = ['subject', 'encounter', 'author', 'custodian', 'focus', 'entry', 'party', 'detail'] as const;
const BETWEEN = ['attester', 'event', 'section'] as const;

/** A loop without recursion, since sections may be nested. */
function directReferencesOf(composition: PlainObject): readonly Placed[] {
  const found: Placed[] = [];
  const pending: Placed[] = [{ value: composition, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const owner = next;
    found.push(...DIRECT.flatMap((name) => placedValuesOf(owner, name)));
    pending.push(...BETWEEN.flatMap((name) => placedValuesOf(owner, name)));
  }
  return found;
}

function placedValuesOf({ value: owner, path }: Placed, name: string): readonly Placed[] {
  const member = owner[name];
  if (!Array.isArray(member)) return isObject(member) ? [{ value: member, path: [...path, name] }] : [];
  return objectsIn(member).map((value, index) => ({ value, path: [...path, name, index] }));
}
