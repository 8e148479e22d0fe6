import { Injectable } from '@nestjs/common';
import { canonicalKeysOf, latestOf } from '../../fhir/reference';
import { type Resource } from '../../fhir/types';
import { Statements } from '../../platform/database/statements';
import { RowHashes } from '../../search-index/extract/row-hashes';
import { type FoundResource, foundResourceOf, type FoundRow } from '../compile/found-resource';
import { fittingRows, LateTexts } from '../../store/late-texts';
import { type RowLimit } from '../rows/row-limit';
import { boundWithin, BY_NAME, SOURCES } from './include-statements';
import { hasName, type NamedPath, namesIn, type TargetName } from './named-paths';

/**
 * Maximum number of resources read for one name: the versions of a url, or the resources with an identifier. Others are
 * left out.
 */
const MOST_OF_A_NAME = 200;

/** Maximum number of names of targets that are read from the sources of one page. */
const MOST_NAMES = 5_000;

export interface Named {
  readonly resources: readonly FoundResource[];
  readonly isComplete: boolean;
}

interface Bounds {
  readonly most: number;
  /** Rows that the caller may see. A hidden resource does not count as a version of a url either. */
  readonly limit: RowLimit | undefined;
}

interface Parsed {
  readonly found: FoundResource;
  readonly resource: Resource;
}

/**
 * Finds resources that are named by a canonical or an identifier. Search rows give candidates, and their bodies decide.
 * So a canonical with a version finds that version, and one without a version finds the latest.
 */
@Injectable()
export class NamedResources {
  constructor(
    private readonly statements: Statements,
    private readonly texts: LateTexts,
    private readonly hashes: RowHashes,
  ) {}

  async targetsOf(sources: readonly FoundResource[], path: NamedPath, bounds: Bounds): Promise<Named> {
    const parsed = await this.parsed(sources.filter(({ type }) => type === path.sourceType));
    const names = parsed.flatMap(({ resource }) => namesIn(path, resource));
    const { bearers, isComplete } = await this.bearersOf(names, path, bounds);
    const meant = new Set(names.flatMap((name) => meantBy(name, bearers, path)));
    return { resources: bearers.filter((one) => meant.has(one)).map(({ found }) => found), isComplete };
  }

  /** The sources that name one of the targets. Only names by canonical are searched. */
  async sourcesOf(targets: readonly FoundResource[], path: NamedPath, bounds: Bounds): Promise<Named> {
    const types = new Set(path.targets.map(({ type }) => type));
    const named = await this.parsed(targets.filter(({ type }) => types.has(type)));
    const names = named.flatMap(({ resource: { url } }) => (typeof url === 'string' ? [{ value: url }] : []));
    const keys = names.flatMap(({ value }) => canonicalKeysOf(value, path.baseUrl).slice(0, 1));
    if (keys.length === 0) return { resources: [], isComplete: true };
    const asked = [keys.map((key) => this.hashes.ofTarget(key)), path.parameterIds, [path.sourceType], bounds.most];
    const { statement, values } = boundWithin(SOURCES, asked, bounds.limit);
    const rows = await this.statements.run<FoundRow>(statement, values);
    const fitting = fittingRows(rows);
    const { bearers, isComplete } = await this.bearersOf(names, path, bounds);
    const wanted = new Set(targets.map(({ key }) => key));
    const resources = (await this.parsed(fitting.map(foundResourceOf)))
      .filter(({ resource }) =>
        namesIn(path, resource)
          .flatMap((name) => meantBy(name, bearers, path))
          .some(({ found }) => wanted.has(found.key)),
      )
      .map(({ found }) => found);
    return { resources, isComplete: isComplete && rows.length < bounds.most && fitting.length === rows.length };
  }

  /** All resources with one of the names, of whatever version. */
  private async bearersOf(
    names: readonly TargetName[],
    { targets }: NamedPath,
    { most, limit }: Bounds,
  ): Promise<{ readonly bearers: readonly Parsed[]; readonly isComplete: boolean }> {
    const keys = new Map<string, readonly [hash: number, systemHash: number | null]>();
    for (const { value, system, type } of names) {
      for (const target of targets) {
        if (type !== undefined && type !== target.type) continue;
        const hash = this.hashes.ofToken(target.parameterId, value);
        const systemHash = system === undefined ? null : this.hashes.ofSystem(system);
        keys.set(`${hash} ${systemHash ?? ''}`, [hash, systemHash]);
      }
    }
    if (keys.size === 0) return { bearers: [], isComplete: true };
    const asked = [...keys.values()].slice(0, MOST_NAMES);
    const columns = [asked.map(([hash]) => hash), asked.map(([, systemHash]) => systemHash), MOST_OF_A_NAME, most];
    const { statement, values } = boundWithin(BY_NAME, columns, limit);
    const rows = await this.statements.run<FoundRow>(statement, values);
    const fitting = fittingRows(rows);
    const bearers = await this.parsed(fitting.map(foundResourceOf));
    const isComplete = asked.length === keys.size && rows.length < most && fitting.length === rows.length;
    return { bearers, isComplete };
  }

  /** The resources with their parsed bodies. A text that was read only for this comparison is not kept. */
  private async parsed(some: readonly FoundResource[]): Promise<Parsed[]> {
    const texts = await this.texts.all(some);
    return some.map((found, index) => ({ found, resource: JSON.parse(texts[index]?.text ?? '{}') as Resource }));
  }
}

/** A canonical means its version, or the latest if it names none; an identifier means every resource that has it. */
function meantBy(name: TargetName, bearers: readonly Parsed[], { by, targets }: NamedPath): readonly Parsed[] {
  const named = bearers.filter(({ resource }) =>
    targets.some((target) => target.type === resource.resourceType && hasName(target, resource, name)),
  );
  if (by === 'identifier') return named.filter(({ found }) => name.type === undefined || name.type === found.type);
  if (name.version !== undefined) return named.filter(({ resource }) => resource.version === name.version);
  const latest = latestOf(named.map(({ resource }) => resource));
  return named.filter(({ resource }) => resource === latest);
}
