import { type CodeSet, codesOfR4, listedCodesOf, type StoredProfile, storedProfileOf } from '../../validator/validator';
import { type StoredDefinitions } from './stored-definitions';

/** Bounds: of a resource with more extensions, only the first are looked up; longer urls are not. */
const MAX_EXTENSION_URLS = 200;
const MAX_URL_LENGTH = 2_000;
/** Callers choose the URLs, so the cache is cleared when it holds this many. */
const MAX_KNOWN = 10_000;

/** Cache of the stored definitions at one epoch: loaded on first use, including missing ones. */
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

  /** The URLs among `urls` with a stored StructureDefinition. */
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
  // If the load failed for another request, whose client may have disconnected, load again.
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
