import { createHash } from 'node:crypto';
import { type Branch } from '../../fhirpath/fhirpath';
import { readAsset } from '../../platform/assets';
import { ROWS_VERSIONS } from './rows-version';
import { type OwnSearchParameter, type SearchParameter } from './search-parameter';
import { type SearchParameterSet } from './search-parameter-set';

/**
 * Digest of all that decides which rows a parameter gives: its compiled paths, the parameters whose rows answer for it, its
 * part in the columns of the resource, and the versions of the code. Equal digests give equal rows of one resource. Targets
 * and texts of a definition do not count.
 */
export function parameterDigest(parameter: SearchParameter, set: SearchParameterSet): string {
  const { type, code, kind, storedAs, narrowedTo = null, branches, composite } = parameter;
  const { extraction, folding, hashing } = ROWS_VERSIONS;
  const content = [
    [extraction, hashing, kind === 'string' ? folding : 0],
    [type, code, kind, storedAs, narrowedTo],
    branches.map(branchText),
    composite === undefined ? null : [composite.knowsSystem ?? false, (composite.rows ?? []).map(itemOf)],
    [set.mainDateParameter(type)?.code === code, set.patientParameter(type)?.code === code],
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

const itemOf = ({ branch, parts }: NonNullable<NonNullable<SearchParameter['composite']>['rows']>[number]): unknown => [
  branchText(branch),
  parts.map((part) => [part.kind, part.branches.map(branchText)]),
];

/** Steps with equal texts do the same; the type of the values does not change what is done with them. */
const branchText = ({ steps }: Branch): string => steps.map(({ text }) => text).join('.');

/** Of all that the parameters of this build are made from: while it stays, a start need not compile and compare them. */
export function definitionsDigest(own: readonly OwnSearchParameter[], ownTypes: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([ROWS_VERSIONS, own, ownTypes]));
  for (const file of ['search-parameters', 'elements']) hash.update(readAsset(`fhir/definitions/${file}.json`));
  return hash.digest('hex');
}
