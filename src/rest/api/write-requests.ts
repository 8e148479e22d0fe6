import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Slices } from '../../platform/time/slices';
import { HEADER_TAGS, preconditionsOf } from '../conditional/entity-tags';
import { assertId, ResourceDraft } from '../../model/resource-draft';
import { ResourceTypes } from '../../model/resource-types';
import { type WriteConditions } from '../../resource/writes/write';
import { RowLimits } from '../../resource/rows/row-limits';
import { assertNoCriteria } from './criteria-request';
import { readBodyInSteps } from '../../fhir/edge/resource-request';

/** What all writes read of their requests. */
@Injectable()
export class WriteRequests {
  constructor(
    private readonly types: ResourceTypes,
    private readonly limits: RowLimits,
    private readonly slices: Slices,
  ) {}

  /**
   * The resource that is sent; one of megabytes is read in slices.
   * @throws what {@link readBodyInSteps} and {@link ResourceDraft.of} throw
   */
  async draftOf(request: Request, type: string, id?: string): Promise<ResourceDraft> {
    return ResourceDraft.of(await this.slices.run(readBodyInSteps(request)), type, id);
  }

  /**
   * @param id undefined where criteria name the resource
   * @throws ServiceError for a type that is unknown or refuses such writes, what is no id, or criteria beside the id
   */
  assertTarget(write: 'update' | 'delete', type: string, id: string | undefined, request: Request): void {
    if (id === undefined) {
      this.types.assertWritable(type, write === 'delete' ? 'conditional-delete' : write, 'type');
      return;
    }
    this.types.assertWritable(type, write, 'instance');
    assertId(id);
    assertNoCriteria(request);
  }

  /** On which versions the write depends, and to which rows it keeps. */
  async optionsOf({ headers }: Request): Promise<WriteConditions> {
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    return { ...preconditionsOf({ ifMatch, ifNoneMatch }, HEADER_TAGS), ...(await this.createOptions()) };
  }

  /** A create depends on no version. */
  async createOptions(): Promise<Pick<WriteConditions, 'reach'>> {
    return { reach: await this.limits.reach() };
  }
}
