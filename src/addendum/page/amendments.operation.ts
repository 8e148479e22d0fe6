import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/fhir-answer';
import {
  Operation,
  type OperationDefinition,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { amendmentsHtml } from './amendments-html';
import { PAGE_HEADERS } from './amendments-policy';
import { AmendmentsReader } from './amendments-reader';

const DEFINITION: OperationDefinition = {
  code: 'amendments',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  hasPage: true,
  exampleId: 'vitals-1',
  description:
    'A page for people: what changed, who wrote it and when, and whether the record is intact. The same as JSON by Accept.',
};

/** Answers with the page, or with what it shows as JSON. */
@Injectable()
class AmendmentsPage implements OperationHandler {
  constructor(private readonly reader: AmendmentsReader) {}

  async execute({ type = '', id = '', format }: OperationRequest): Promise<FhirAnswer> {
    const view = await this.reader.read({ resourceType: type, id });
    if (format.isPage !== true) return { status: 200, text: JSON.stringify(view) };
    return { status: 200, text: amendmentsHtml(view), contentType: format.contentType, headers: PAGE_HEADERS };
  }
}

@Injectable()
@Operation({ ...DEFINITION, resourceType: 'SDCDocument' })
export class DocumentAmendments extends AmendmentsPage {}

@Injectable()
@Operation({ ...DEFINITION, resourceType: 'SDCWorkflow' })
export class WorkflowAmendments extends AmendmentsPage {}
