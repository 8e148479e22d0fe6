import { type CodeSet } from '../r4/binding-check';
import { type SliceProfiles, sliceTestOf } from './discriminator';
import { typeOfCanonical } from '../../fhir/definitions/definitions';
import { type ProfileNode, profileTreeOf } from './profile-tree';
import { type TestedSlice } from './slice-check';
import { type ElementConstraint, type Slicing, type StoredProfile } from './stored-profile';

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

/** The trees of profiles and the tests of their slices, each built at its first use. */
export class ProfileTrees implements SliceProfiles {
  private readonly trees = new Map<StoredProfile, ProfileNode>();
  private readonly slices = new Map<ProfileNode, readonly TestedSlice[]>();

  constructor(private readonly sources: StoredSources) {}

  of(profile: StoredProfile): ProfileNode {
    const known = this.trees.get(profile) ?? profileTreeOf(profile.type, this.elementsOf(profile, MAX_BASES));
    this.trees.set(profile, known);
    return known;
  }

  testsOf(node: ProfileNode, slicing: Slicing): readonly TestedSlice[] {
    const known =
      this.slices.get(node) ??
      [...node.slices].map(([name, slice]) => ({ name, slice, test: sliceTestOf(slice, slicing, this) }));
    this.slices.set(node, known);
    return known;
  }

  treeOf(canonical: string): ProfileNode | undefined {
    const profile = this.sources.profile(canonical);
    return profile === undefined ? undefined : this.of(profile);
  }

  typeOf(canonical: string): string | undefined {
    return this.sources.profile(canonical)?.type;
  }

  codes(canonical: string): CodeSet | undefined {
    return this.sources.codes(canonical);
  }

  /** The elements of a profile. A snapshot has all of them; a differential is added to those of its base. */
  private elementsOf(profile: StoredProfile, basesLeft: number): readonly ElementConstraint[] {
    if (
      profile.hasSnapshot ||
      profile.base === undefined ||
      typeOfCanonical(profile.base) !== undefined ||
      basesLeft === 0
    )
      return profile.elements;
    const base = this.sources.profile(profile.base);
    return base === undefined ? profile.elements : [...this.elementsOf(base, basesLeft - 1), ...profile.elements];
  }
}
