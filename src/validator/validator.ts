/** The public part of this package: other packages import only this file. */
export { ResourceValidator } from './r4/resource-validator';
export { type CodeSet } from './r4/binding-check';
export { printPath } from './r4/validation-run';
export { type ProfileSources, ProfileValidator } from './profile/profile-validator';
export { type StoredProfile, storedProfileOf } from './profile/stored-profile';
export { codesOfR4, listedCodesOf } from './profile/listed-codes';
export { type PlacedResource, placesIn } from './profile/placed-resource';
export { extensionsIn, type PlacedExtension } from './profile/placed-extension';
