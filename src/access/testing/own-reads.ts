import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { ResourceReader } from '../../store/resource-reader';
import { AccessDecision } from '../decision/access-decision';
import { AccessRequests } from '../request/access-requests';
import { type ResourceName } from '../../model/stored-resource';
import { readOf } from '../../resource/access/entry-access';

/** A resource, as far as the person who asks for an explanation may read it. */
export interface OwnRead {
  /** Undefined if that person may not learn whether the resource is stored. */
  readonly isStored: boolean | undefined;
  /** Present if that person may read the resource. */
  readonly resource?: Resource;
}

/**
 * Reads resources with the rights of the caller who asks for an explanation. So an explanation shows nothing that this
 * caller could not read without it.
 */
@Injectable()
export class OwnReads {
  constructor(
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
    private readonly limits: RowLimits,
    private readonly check: RowCheck,
    private readonly reader: ResourceReader,
  ) {}

  async of(row: ResourceName): Promise<OwnRead> {
    const request = this.asked.ofEntry(readOf(row));
    const rows = request && (await this.access.decide(request)).rows;
    // For a caller who is limited to some rows, a hidden resource must look like a resource that is not stored.
    if (rows === undefined || (rows !== 'all' && !(await this.check.isGranted(await this.limits.of(rows), row))))
      return { isStored: undefined };
    const found = await this.reader.find(row.type, row.id);
    return found === undefined ? { isStored: false } : { isStored: true, resource: JSON.parse(found.text) as Resource };
  }
}
