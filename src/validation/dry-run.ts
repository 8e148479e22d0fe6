import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { isR4ResourceType } from '../fhir/definitions';
import { RequestContext } from '../platform/http/request-context';
import { ServiceError } from '../platform/errors/service-error';
import { ResourceDraft } from '../resource/resource-draft';
import { ResourceTypes } from '../resource/resource-types';
import { WriteExtensions } from '../resource/write-extensions';
import { type ValidateRequest } from './validate-request';
import { validationAnswer } from './validation-answer';

/** Asks what a write would say, and writes nothing. */
@Injectable()
export class DryRun {
  constructor(
    private readonly types: ResourceTypes,
    private readonly extensions: WriteExtensions,
    private readonly requests: RequestContext,
  ) {}

  /** @throws ServiceError 'not-found' for an unknown type, 'invalid' for a body of another type or id. */
  async answer(type: string, { mode, resource, profiles }: ValidateRequest, id?: string): Promise<FhirAnswer> {
    this.types.assertKnown(type);
    // Rules of modules compare with what is stored, whoever may read that.
    if (!isR4ResourceType(type)) this.requests.assertAllRows();
    if (mode === 'delete') {
      this.types.assertWritable(type);
      return validationAnswer([]);
    }
    if (resource === undefined) {
      throw new ServiceError('invalid', 'Send the resource to validate, or Parameters with "resource".');
    }
    const draft = ResourceDraft.of(resource, type, id);
    if (mode === 'update' && draft.id === undefined) {
      throw new ServiceError('invalid', 'For mode "update" the resource needs an id.', { expression: `${type}.id` });
    }
    return validationAnswer(await this.extensions.issuesOf(draft, profiles));
  }
}
