import { Injectable } from '@nestjs/common';
import { type FhirAnswer, type FhirStream } from '../fhir/fhir-answer';
import { Environment } from '../platform/config/environment';
import { CollectedText } from '../platform/http/collected-text';
import { streamLimitsOf } from '../platform/http/stream-limits';
import { type TextSink } from '../platform/http/send-stream';
import { bundleText } from '../resource/api/resource-answer';
import { ChartExplanation } from './chart-explanation';
import { ChartPages, ENTRIES } from './chart-pages';
import { ChartReader, type Member } from './chart-reader';
import { tallyOf } from './chart-tally';
import { type EverythingCall } from './everything-call';
import { linkedParameters } from './everything-request';
import { LargeCharts } from './large-charts';
import { PageLists } from './page-lists';

/** Makes the answers of calls: at once where a chart is of ordinary size, else as a stream. */
@Injectable()
export class ChartAnswers {
  constructor(
    private readonly charts: ChartReader,
    private readonly largeCharts: LargeCharts,
    private readonly lists: PageLists,
    private readonly pages: ChartPages,
    private readonly explanation: ChartExplanation,
    private readonly environment: Environment,
  ) {}

  /** All of a chart, in one answer. */
  async whole(call: EverythingCall): Promise<FhirAnswer | FhirStream> {
    const { request, query, printer, format } = call;
    const isOrdinary = query.linked === undefined && request.explain === undefined;
    const startedAt = performance.now();
    const members = isOrdinary ? await this.charts.read(query, request.timeoutSeconds) : undefined;
    if (members === undefined) return this.streamed(call, await this.largeBody(call, performance.now() - startedAt));
    if (printer.isLines)
      return { status: 200, contentType: format.contentType, text: printer.printAll(members, 'match') };
    return {
      status: 200,
      text: bundleText('searchset', { total: members.length, ...headOf(call) }, printEach(call, members)),
    };
  }

  /** The number of resources alone. */
  async total(call: EverythingCall): Promise<FhirAnswer> {
    const { request, query } = call;
    let total = 0;
    await this.largeCharts.visit(
      { ...query, linked: undefined },
      { seconds: request.timeoutSeconds },
      async (snapshot, portion) => {
        total += (await tallyOf(snapshot, portion)).count;
      },
    );
    return { status: 200, text: bundleText('searchset', { total, ...headOf(call) }, []) };
  }

  /** The first page, which makes the list of all, or a further one. */
  async page(call: EverythingCall): Promise<FhirAnswer | FhirStream> {
    const { request, query, printer, urlWith } = call;
    const { cursor, count = 0, timeoutSeconds: seconds } = request;
    const page =
      cursor === undefined
        ? await this.lists.begin(query, count, seconds)
        : await this.lists.page(cursor, query.patientId, count);
    const { link } = headOf(call);
    const next =
      page.next === undefined ? [] : [{ relation: 'next', url: urlWith(linkedParameters(request, page.next)) }];
    const head = openBundle({ total: page.total, link: [...link, ...next] });
    return this.streamed(call, (sink) => this.pages.write(sink, { page, head, printer, limit: query.filter.limit }));
  }

  private async streamed(call: EverythingCall, produce: FhirStream['produce']): Promise<FhirAnswer | FhirStream> {
    if (!call.isWholeText)
      return { contentType: call.format.contentType, limits: streamLimitsOf(this.environment), produce };
    const collected = new CollectedText('Ask for it as JSON or application/fhir+ndjson, or page by page with _count.');
    await produce(collected);
    return { status: 200, text: collected.text };
  }

  private async largeBody(call: EverythingCall, spentMilliseconds: number): Promise<FhirStream['produce']> {
    const { request, query, printer } = call;
    const { explain, timeoutSeconds: seconds } = request;
    const explained = explain === undefined ? {} : { explain: await this.explanation.of(query, explain, seconds) };
    const head = openBundle({ ...headOf(call), ...explained });
    return async (sink: TextSink): Promise<void> => {
      let total = 0;
      let before = printer.isLines ? '' : `${head}${ENTRIES}`;
      const options = { seconds, spentMilliseconds, signal: sink.signal };
      await this.largeCharts.read(query, options, printer, async (text, count, mode) => {
        if (mode === 'match') total += count;
        await sink.write(before === '' ? text : `${before}${text}`);
        before = printer.between;
      });
      if (!printer.isLines) await sink.write(`${before === printer.between ? ']' : head},"total":${total}}`);
    };
  }
}

const headOf = ({
  request,
  urlWith,
}: EverythingCall): { readonly link: readonly { relation: string; url: string }[] } => ({
  link: [{ relation: 'self', url: urlWith(request.used) }],
});

const printEach = ({ printer }: EverythingCall, members: readonly Member[]): string[] =>
  members.map((member) => printer.print(member, 'match'));

/** A Bundle up to its entries, if it has any: FHIR has no empty arrays. */
const openBundle = (members: object): string =>
  JSON.stringify({ resourceType: 'Bundle', type: 'searchset', ...members }).slice(0, -1);
