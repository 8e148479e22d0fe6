import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import {
  Operation,
  type OperationDefinition,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../../platform/http/known-parameters';
import { type TextSink } from '../../platform/http/send-body';
import { LINK_HEADERS } from './amendments-link.operation';
import { PAGE_HEADERS } from './page-style';
import { type RecordPrinter } from './record';
import { RECORD_JSON } from './record-json';
import { RECORD_PAGE } from './record-page';
import { RecordReader, type TargetRecord } from './record-reader';

const AMENDMENTS = {
  code: 'amendments',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  hasPage: true,
} as const satisfies Partial<OperationDefinition>;

/** Returns the record of a target as an HTML page, or as JSON if the caller accepts that. */
@Injectable()
abstract class AmendmentsOperation implements OperationHandler {
  constructor(private readonly reader: RecordReader) {}

  async execute({ type = '', id = '', format, query, headers: { prefer } }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$amendments', query, ['link-token', ...SHAPE_PARAMETERS], prefer);
    const record = await this.reader.read({ id, resourceType: type });
    const headers = query.has('link-token') ? LINK_HEADERS : {};
    if (format.isPage !== true) return { status: 200, headers, produce: (sink) => write(sink, record, RECORD_JSON) };
    return {
      status: 200,
      contentType: format.contentType,
      headers: { ...PAGE_HEADERS, ...headers },
      produce: (sink) => write(sink, record, RECORD_PAGE),
    };
  }
}

@Operation({
  ...AMENDMENTS,
  resourceType: 'SDCDocument',
  exampleId: 'vitals-1',
  description:
    'Signed content, changes with author and time, notes and comments, and whether the record is intact: as a page for people, or JSON',
})
export class DocumentAmendments extends AmendmentsOperation {}

@Operation({
  ...AMENDMENTS,
  resourceType: 'SDCWorkflow',
  exampleId: 'rounds-1',
  description:
    'The same for a workflow: signed content, changes with author and time, notes and comments, and whether the record is intact',
})
export class WorkflowAmendments extends AmendmentsOperation {}

async function write(sink: TextSink, { head, parts }: TargetRecord, printer: RecordPrinter): Promise<void> {
  const add = async (texts: Iterable<string>): Promise<void> => {
    for (const text of texts) await sink.write(text);
  };
  let [count, sections, inSection] = [0, 0, 0];
  await add(printer.head(head));
  for await (const part of parts) {
    const isSection = part.kind === 'revision' || part.kind === 'unsigned';
    if (isSection || sections === 0) {
      await add(printer.section(isSection ? part : undefined, sections++ === 0));
      inSection = 0;
    }
    if (!isSection) await add(printer.addendum(part, inSection++ === 0));
    if (part.kind !== 'unsigned') count++;
  }
  // Ends the response with an error if an addendum of the chain was not read: the record must not look complete.
  if (head.chain.intact && count !== head.chain.length)
    throw new Error(
      `${head.target.resourceType}/${head.target.id}: ${count} of ${head.chain.length} addenda were read`,
    );
  await add(printer.end(count));
}
