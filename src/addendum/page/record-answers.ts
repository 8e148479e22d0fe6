import { Injectable } from '@nestjs/common';
import { type FhirAnswer, type FhirStream } from '../../fhir/fhir-answer';
import { type OperationDefinition, type OperationRequest } from '../../operation/operation';
import { Environment } from '../../platform/config/environment';
import { CollectedText } from '../../platform/http/collected-text';
import { Portions } from '../../platform/http/portions';
import { streamLimitsOf } from '../../platform/http/stream-limits';
import { type TextSink } from '../../platform/http/send-stream';
import { PAGE_HEADERS } from './page-style';
import { type RecordPrinter } from './record';
import { RecordJson } from './record-json';
import { RecordPage } from './record-page';
import { RecordReader, type TargetRecord } from './record-reader';

/** What both operations are to policies, `/metadata` and the OpenAPI document. */
export const amendmentsOperation = {
  code: 'amendments',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  hasPage: true,
} as const satisfies Partial<OperationDefinition>;

/** Answers with the record of a target: a page, or JSON for who asks for it. */
@Injectable()
export class RecordAnswers {
  constructor(
    private readonly reader: RecordReader,
    private readonly environment: Environment,
  ) {}

  async of({ type = '', id = '', format, isPretty }: OperationRequest): Promise<FhirAnswer | FhirStream> {
    const record = await this.reader.read({ id, resourceType: type });
    const { contentType } = format;
    const limits = streamLimitsOf(this.environment);
    if (format.isPage === true) {
      const produce = (sink: TextSink): Promise<void> => write(sink, record, new RecordPage());
      return { contentType, headers: PAGE_HEADERS, limits, produce };
    }
    if (!format.isYaml && !isPretty) {
      return { contentType, limits, produce: (sink) => write(sink, record, new RecordJson()) };
    }
    const collected = new CollectedText('Ask for it as JSON or text/html.');
    await write(collected, record, new RecordJson());
    return { status: 200, text: collected.text };
  }
}

async function write(sink: TextSink, { head, parts }: TargetRecord, printer: RecordPrinter): Promise<void> {
  const page = new Portions(sink);
  let count = 0;
  await page.add(printer.head(head));
  for await (const part of parts()) {
    if (part.kind !== 'unsigned') count++;
    await page.add(printer.part(part));
  }
  // What the chain vouches for is all there, or the answer must not look whole.
  if (head.chain.intact && count !== head.chain.length)
    throw new Error(
      `${head.target.resourceType}/${head.target.id}: ${count} of ${head.chain.length} addenda were read`,
    );
  await page.add(printer.end(count));
  await page.flush();
}
