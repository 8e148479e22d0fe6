import { type CodeSet, codesOfR4, listedCodesOf, type StoredProfile, storedProfileOf } from '../../validator/validator';
import { type StoredDefinitions } from './stored-definitions';

/**
 * Bounds of the extensions that are looked up: the maximum number of urls of a resource, and the maximum length of one.
 */
const MAX_EXTENSION_URLS = 200;
const MAX_URL_LENGTH = 2_000;
/**
 * Maximum number of entries of a cache. When the number is exceeded, the cache is cleared. It needs a bound, since its
 * keys are URLs that callers choose.
 */
const MAX_KNOWN = 10_000;

/**
 * Caches definitions until one of them changes: a new cache then replaces this one. Each definition is loaded at first
 * use. That a definition is not stored is cached too.
 */
export class KnownDefinitions {
  private readonly profiles = new Map<string, Promise<StoredProfile | undefined>>();
  private readonly valueSets = new Map<string, Promise<CodeSet | undefined>>();
  private readonly hasDefinition = new Map<string, boolean>();

  constructor(private readonly definitions: StoredDefinitions) {}

  profile(canonical: string): Promise<StoredProfile | undefined> {
    return once(this.profiles, canonical, async () =>
      storedProfileOf(await this.definitions.find('StructureDefinition', canonical)),
    );
  }

  codes(canonical: string): Promise<CodeSet | undefined> {
    const [url = ''] = canonical.split('|');
    return once(
      this.valueSets,
      canonical,
      async () => listedCodesOf(url, await this.definitions.find('ValueSet', canonical)) ?? codesOfR4(url),
    );
  }

  /** The urls among `urls` for which a StructureDefinition is stored. */
  async storedOf(urls: readonly string[]): Promise<ReadonlySet<string>> {
    const asked = [...new Set(urls)].slice(0, MAX_EXTENSION_URLS).filter((url) => url.length <= MAX_URL_LENGTH);
    const stored = new Set(asked.filter((url) => this.hasDefinition.get(url) === true));
    const unknown = asked.filter((url) => !this.hasDefinition.has(url));
    if (unknown.length === 0) return stored;
    const found = await this.definitions.known('StructureDefinition', unknown);
    if (this.hasDefinition.size > MAX_KNOWN) this.hasDefinition.clear();
    for (const url of unknown) {
      this.hasDefinition.set(url, found.has(url));
      if (found.has(url)) stored.add(url);
    }
    return stored;
  }
}

async function once<T>(kept: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  if (kept.size > MAX_KNOWN) kept.clear();
  const known = kept.get(key);
  // A load for another request may have failed because its client disconnected. Then this request loads again.
  if (known !== undefined) return known.catch(() => once(kept, key, load));
  const loaded = load();
  kept.set(key, loaded);
  try {
    return await loaded;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}
