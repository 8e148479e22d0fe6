import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { type ResourcePatch } from '../resource-writer';
import { type BundleEntry } from './bundle';

/** Reads the patch of an entry: a Binary with a JSON Patch, or Parameters (http://hl7.org/fhir/R4/http.html#patch). */
@Injectable()
export class EntryPatches {
  of({ index }: BundleEntry): ResourcePatch {
    throw new ServiceError('unprocessable', `PATCH is not possible here yet: entry ${index}.`, {
      expression: 'request',
    });
  }
}
