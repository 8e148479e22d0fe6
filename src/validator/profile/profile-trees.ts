import { type CodeSet } from '../r4/binding-check';
import { typeOfCanonical } from '../../fhir/definitions/definitions';
import { memoized } from '../../platform/memoized';
import { type ProfileNode, profileTreeOf } from './profile-tree';
import { type ElementConstraint, type StoredProfile } from './stored-profile';

/** Access to stored profiles and value sets. */
export interface StoredSources {
  /**
   * The profile of a canonical; the same object at each call.
   * @param canonical a URL, with or without `|version`
   */
  profile(canonical: string): StoredProfile | undefined;
  /** The codes of a value set; undefined unless all of them are listed. */
  codes(canonical: string): CodeSet | undefined;
}

const MAX_BASES = 16;

/** The trees of profiles, each built at its first use. */
export class ProfileTrees {
  readonly of = memoized((profile: StoredProfile) => profileTreeOf(profile.type, this.elementsOf(profile, MAX_BASES)));

  constructor(readonly sources: StoredSources) {}

  treeOf(canonical: string): ProfileNode | undefined {
    const profile = this.sources.profile(canonical);
    return profile === undefined ? undefined : this.of(profile);
  }

  /** The elements of a profile. A snapshot has all of them; a differential is added to those of its base. */
  private elementsOf(profile: StoredProfile, basesLeft: number): readonly ElementConstraint[] {
    const { hasSnapshot, base: canonical, elements } = profile;
    if (hasSnapshot || canonical === undefined || typeOfCanonical(canonical) !== undefined || basesLeft === 0)
      return elements;
    const base = this.sources.profile(canonical);
    return base === undefined ? elements : [...this.elementsOf(base, basesLeft - 1), ...elements];
  }
}
