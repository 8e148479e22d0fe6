import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { readOf } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { RowCriteria, typeOfCriterion } from '../../search/rows/row-criteria';
import { ResourceReader } from '../../store/resource-reader';
import { type ResourceName } from '../../model/stored-resource';

/** Limits of an explanation: how many criteria it explains, and how many characters of a value it shows. */
const MAX_EXPLAINED = 3;
const MAX_LENGTH = 200;

/** A resource, as far as the caller of a test may read it. */
interface OwnRead {
  /** Undefined if this caller may not learn whether the resource is stored. */
  readonly isStored: boolean | undefined;
  /** Present if this caller may read the resource. */
  readonly resource?: Resource;
}

/** Answers questions about the resource that a described request names. */
@Injectable()
export class NamedResources {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly check: RowCheck,
    private readonly criteria: RowCriteria,
    private readonly reader: ResourceReader,
  ) {}

  /** Whether the resource is stored and among the granted rows. */
  async isIn(rows: GrantedRows, row: ResourceName): Promise<boolean> {
    return this.check.isGranted(await this.limits.of(rows), row);
  }

  /**
   * Reads the resource with the rights of the caller of the test. So an explanation shows nothing that this caller
   * could not read without it.
   */
  async readOwn(row: ResourceName): Promise<OwnRead> {
    const rows = await this.access.decider.rowsOf(readOf(row));
    // For a caller who is limited to some rows, a hidden resource must look like a resource that is not stored.
    if (rows === undefined || !(await this.isIn(rows, row))) return { isStored: undefined };
    const found = await this.reader.find(row.type, row.id);
    return found === undefined ? { isStored: false } : { isStored: true, resource: JSON.parse(found.text) as Resource };
  }

  /**
   * Explains why the row criteria of a grant (searches that limit it) do not find the resource.
   * @param granted the criteria with their values filled in; none of them finds the row
   * @param isOpen whether the caller of the test may see those values
   * @returns the explanation, such as `its organization is Organization/w7, not Organization/w4`
   */
  async whyMissed(
    granted: Exclude<GrantedRows, 'all'>,
    row: ResourceName,
    resource: Resource,
    isOpen: boolean,
  ): Promise<string> {
    const own = granted.filter((criterion) => typeOfCriterion(criterion) === row.type);
    if (own.length === 0) return `it has no criterion for ${row.type}`;
    const reasons = new Set<string>();
    for (const criterion of own.slice(0, MAX_EXPLAINED))
      reasons.add(await this.missed(criterion, row, resource, isOpen));
    if (own.length > MAX_EXPLAINED) reasons.add(`${own.length - MAX_EXPLAINED} more do not find it either`);
    return [...reasons].join('; ');
  }

  /**
   * Explains why one criterion does not find the row: by its first parameter that does not find the row when searched
   * alone. If each parameter alone finds the row, the text says that they do not find it together.
   */
  private async missed(criterion: string, row: ResourceName, resource: Resource, isOpen: boolean): Promise<string> {
    const query = new URLSearchParams(criterion.slice(row.type.length + 1));
    for (const [name, value] of query) {
      const alone = `${row.type}?${new URLSearchParams([[name, value]]).toString()}`;
      if (await this.isIn([alone], row)) continue;
      const wanted = isOpen ? value.replace(/\\([\\,$|])/g, '$1').slice(0, MAX_LENGTH) : undefined;
      const values = await this.criteria.valuesOf(row.type, name, resource);
      return sentenceOn(name, values, wanted);
    }
    return 'it does not fit all parameters of a criterion together';
  }
}

function sentenceOn(name: string, values: readonly string[] | undefined, wanted: string | undefined): string {
  const called = name === '_id' ? 'id' : name;
  if (values === undefined) return `it does not fit ${name}${wanted === undefined ? '' : `=${wanted}`}`;
  if (values.length === 0) return `it has no ${called}${wanted === undefined ? '' : ` (needed: ${wanted})`}`;
  return `its ${called} is ${values.join(', ')}, not ${wanted ?? 'that of the caller'}`;
}
