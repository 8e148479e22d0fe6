import { Injectable } from '@nestjs/common';
import { type FhirAnswer, type FhirStream } from '../fhir/fhir-answer';
import { Environment } from '../platform/config/environment';
import { CollectedText } from '../platform/http/collected-text';
import { type TextSink } from '../platform/http/send-stream';
import { streamLimitsOf } from '../platform/http/stream-limits';
import { bundleText } from '../resource/api/resource-answer';
import { PageLists } from './pages/page-lists';
import { PageWriter } from './pages/page-writer';
import { MOST_LINKS } from './plan/first-chunk';
import { chunksOf } from './read/chunks';
import { CompartmentReader, type ReadOptions } from './read/compartment-reader';
import { type Entry } from './plan/entry';
import { tallyOf } from './read/tally';
import { type EverythingCall } from './request/everything-call';
import { linkedParameters } from './request/everything-request';
import { CompartmentExplanation } from './compartment-explanation';
import { EntryStream } from './print/entry-stream';

/** Answers calls: with the first chunk where that is all, else with a page or a stream. */
@Injectable()
export class CompartmentAnswers {
  constructor(
    private readonly reader: CompartmentReader,
    private readonly lists: PageLists,
    private readonly pages: PageWriter,
    private readonly explanation: CompartmentExplanation,
    private readonly environment: Environment,
  ) {}

  async of(call: EverythingCall): Promise<FhirAnswer | FhirStream> {
    const { cursor, count, explain, timeoutSeconds: seconds } = call.request;
    const startedAt = performance.now();
    if (cursor === undefined && explain === undefined && call.query.included === undefined) {
      const entries = await this.reader.first(call.query, { seconds }, Math.min(count ?? MOST_LINKS, MOST_LINKS));
      if (entries !== undefined && entries.length <= (count ?? Infinity)) return wholeAnswer(call, entries);
    }
    const options = { seconds, spentMilliseconds: performance.now() - startedAt };
    return this.streamed(call, count === undefined ? await this.stream(call, options) : await this.page(call, options));
  }

  /** The number of resources alone. */
  async total(call: EverythingCall): Promise<FhirAnswer> {
    const { request, query } = call;
    const matches = { ...query, included: undefined };
    const total = await this.reader.within(matches, { seconds: request.timeoutSeconds }, async (snapshot, parts) => {
      let count = 0;
      for (const part of parts(matches)) count += (await tallyOf(snapshot, part)).count;
      return count;
    });
    return { status: 200, text: bundleText('searchset', { total, ...linksOf(call) }, []) };
  }

  private async stream(call: EverythingCall, options: ReadOptions): Promise<FhirStream['produce']> {
    const { query, printer, request } = call;
    const { explain, timeoutSeconds: seconds } = request;
    const explained = explain && { explain: await this.explanation.of(query, explain, seconds) };
    const head = printer.isLines ? undefined : { ...linksOf(call), ...explained };
    return async (sink) => {
      const entries = new EntryStream(sink, head);
      let total = 0;
      await this.reader.within(query, options, async (snapshot, parts, reading) => {
        for await (const { text, count, mode } of chunksOf(snapshot, parts(query), printer)) {
          if (mode === 'match') total += count;
          await reading.sending(entries.write(text));
        }
      });
      await entries.end(`,"total":${total}`);
    };
  }

  /** The first page, which makes the list of all, or a further one. */
  private async page(call: EverythingCall, options: ReadOptions): Promise<FhirStream['produce']> {
    const { request, query, printer, urlWith } = call;
    const { cursor, count = 0 } = request;
    const page =
      cursor === undefined
        ? await this.lists.begin(query, count, options)
        : await this.lists.page(cursor, query.patientId, count);
    const { link } = linksOf(call);
    const next =
      page.next === undefined ? [] : [{ relation: 'next', url: urlWith(linkedParameters(request, page.next)) }];
    const head = { total: page.total, link: [...link, ...next] };
    return (sink: TextSink) => this.pages.write(new EntryStream(sink, head), page, printer, query.limit);
  }

  private async streamed(call: EverythingCall, produce: FhirStream['produce']): Promise<FhirAnswer | FhirStream> {
    if (!call.isWholeText)
      return { contentType: call.format.contentType, limits: streamLimitsOf(this.environment), produce };
    const collected = new CollectedText('Ask for it as JSON or application/fhir+ndjson, or page by page with _count.');
    await produce(collected);
    return { status: 200, text: collected.text };
  }
}

function wholeAnswer(call: EverythingCall, entries: readonly Entry[]): FhirAnswer {
  const text = call.printer.print(entries, 'match');
  if (call.printer.isLines) return { status: 200, contentType: call.format.contentType, text };
  const members = { total: entries.length, ...linksOf(call) };
  return { status: 200, text: bundleText('searchset', members, entries.length === 0 ? [] : [text]) };
}

const linksOf = ({ request, urlWith }: EverythingCall): { readonly link: readonly object[] } => ({
  link: [{ relation: 'self', url: urlWith(request.used) }],
});
