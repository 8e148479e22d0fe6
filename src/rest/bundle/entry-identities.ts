import { randomUUID } from 'node:crypto';
import { noMatch, onlyMatch } from '../conditional/condition-matches';
import { assertId } from '../../model/resource-draft';
import { type ResourceText } from '../../model/stored-resource';
import { type EntryFaults } from './entry-faults';
import { type WriteIntent } from './write-intent';

/** The resource that an entry writes. */
export interface EntryIdentity {
  readonly id: string;
  /**
   * How the id was determined. `given`: the URL has it. `found`: the condition found it. `made`: an earlier entry with
   * the same condition writes it. `chosen`: the resource is new, and its body has the id. `new`: the server generates
   * it. `nothing`: there is nothing to delete.
   */
  readonly origin: 'given' | 'found' | 'made' | 'chosen' | 'new' | 'nothing';
  readonly match?: ResourceText;
}

/** The matches of each condition, by its canonical form. At most two matches are kept of each. */
export type Matches = ReadonlyMap<string, readonly ResourceText[]>;

/**
 * Determines the resource that each entry writes, in order. An entry with the condition of an earlier entry writes the
 * resource of that entry. The identity is undefined for an entry at fault: its condition has several matches, or it is
 * a patch without a match.
 */
export function identitiesOf(
  intents: readonly WriteIntent[],
  matches: Matches,
  faults: EntryFaults,
): (EntryIdentity | undefined)[] {
  const left = new Map<string, EntryIdentity | undefined>();
  return intents.map((intent) =>
    faults.atSync(intent.entry.index, () => {
      const { action, condition, entry } = intent;
      if (condition === undefined)
        return action.id === undefined ? newIdentity(intent) : { id: action.id, origin: 'given' };
      const { canonical } = condition;
      if (!left.has(canonical)) left.set(canonical, foundIdentity(action.type, matches.get(canonical) ?? []));
      const found = left.get(canonical);
      if (action.verb === 'DELETE') {
        left.set(canonical, undefined);
        return found ?? { id: `nothing-${entry.index}`, origin: 'nothing' };
      }
      if (found !== undefined) return found;
      if (action.verb === 'PATCH') throw noMatch(action.type);
      const identity = newIdentity(intent);
      left.set(canonical, { id: identity.id, origin: 'made' });
      return identity;
    }),
  );
}

/**
 * The identity of a new resource. It keeps the id of its body, unless the fullUrl is a urn. A urn means that the
 * identity is made up for this Bundle (http://hl7.org/fhir/R4/http.html#trules), so other Bundles may bring the same
 * resource with the same id.
 */
function newIdentity({ entry, action }: WriteIntent): EntryIdentity {
  const id = entry.resource?.id;
  const isPlaceholder = action.verb === 'POST' && /^urn:/i.test(entry.fullUrl ?? '');
  if (id === undefined || isPlaceholder) return { id: randomUUID(), origin: 'new' };
  assertId(id);
  return { id, origin: 'chosen' };
}

function foundIdentity(type: string, matches: readonly ResourceText[]): EntryIdentity | undefined {
  const match = onlyMatch(type, matches);
  return match === undefined ? undefined : { id: match.id, origin: 'found', match };
}
