import { createHash } from 'node:crypto';
import { type OwnShapes } from '../../fhir/definitions/element-tables';
import { type Branch } from '../../fhirpath/fhirpath';
import { readAsset } from '../../platform/assets';
import { ROWS_VERSIONS } from './rows-version';
import { type OwnSearchParameter, type SearchParameter } from './search-parameter';
import { type SearchParameterSet } from './search-parameter-set';

/**
 * Digest of all that decides which rows a parameter gives: its compiled paths, the parameters whose rows serve it, its
 * columns of the resource, and the versions of the code. Equal digests mean equal rows of each resource. Targets and
 * descriptions of a definition are not part of it.
 */
export function parameterDigest(parameter: SearchParameter, set: SearchParameterSet): string {
  const { type, code, kind, storedAs, narrowedTo = null, branches, composite } = parameter;
  const { extraction, folding, hashing } = ROWS_VERSIONS;
  const content = [
    [extraction, hashing, kind === 'string' ? folding : 0],
    [type, code, kind, storedAs, narrowedTo],
    branches.map(branchText),
    composite === undefined ? null : [composite.hasSystem ?? false, (composite.rows ?? []).map(itemOf)],
    [set.mainDateParameter(type)?.code === code, set.patientParameter(type)?.code === code],
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

const itemOf = ({ branch, parts }: NonNullable<NonNullable<SearchParameter['composite']>['rows']>[number]): unknown => [
  branchText(branch),
  parts.map((part) => [part.kind, part.branches.map(branchText)]),
];

/** Paths with equal texts reach the same values, whatever their types. */
const branchText = ({ steps }: Branch): string => steps.map(({ text }) => text).join('.');

/** Digest of all inputs of a server's parameters. If it is unchanged, a start compiles and compares no parameters. */
export function definitionsDigest(
  own: readonly OwnSearchParameter[],
  ownTypes: readonly string[],
  shapes: OwnShapes,
): string {
  const hash = createHash('sha256').update(JSON.stringify([ROWS_VERSIONS, own, ownTypes, shapes]));
  for (const file of ['search-parameters', 'elements']) hash.update(readAsset(`fhir/definitions/${file}.json`));
  return hash.digest('hex');
}
