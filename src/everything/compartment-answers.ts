import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type Produce } from '../platform/http/send-body';
import { bundleText, EntryStream } from '../model/bundle-text';
import { PageLists } from './pages/page-lists';
import { PageWriter } from './pages/page-writer';
import { MOST_LINKS } from './plan/first-chunk';
import { chunksOf } from './read/chunks';
import { CompartmentReader, type ReadOptions } from './read/compartment-reader';
import { type Entry } from './plan/entry-rows';
import { tallyOf } from './read/tally';
import { type EverythingCall } from './request/everything-call';
import { linkedParameters } from './request/everything-request';
import { explanationsOf } from './compartment-explanation';
import { manifestOf } from './compartment-manifest';

/** Makes the answers of `$everything`. One statement reads a small answer; any other becomes a page or a stream. */
@Injectable()
export class CompartmentAnswers {
  constructor(
    private readonly reader: CompartmentReader,
    private readonly lists: PageLists,
    private readonly pages: PageWriter,
  ) {}

  async of(call: EverythingCall): Promise<FhirAnswer> {
    const { cursor, count, explain, timeoutSeconds: seconds, isManifest, subset } = call.request;
    if (isManifest) return { status: 200, text: await manifestOf(call, this.reader) };
    if (subset === 'count') return this.total(call);
    const startedAt = performance.now();
    if (cursor === undefined && explain === undefined && call.query.included === undefined) {
      const entries = await this.reader.first(call.query, seconds, Math.min(count ?? MOST_LINKS, MOST_LINKS));
      if (entries !== undefined && entries.length <= (count ?? Infinity)) return wholeAnswer(call, entries);
    }
    const options = { seconds, spentMilliseconds: performance.now() - startedAt };
    const produce = count === undefined ? await this.stream(call, options) : await this.page(call, options);
    return { status: 200, produce, ...linesType(call) };
  }

  private async total(call: EverythingCall): Promise<FhirAnswer> {
    const { request, query } = call;
    const matches = { ...query, included: undefined };
    const total = await this.reader.within(matches, { seconds: request.timeoutSeconds }, async (snapshot, parts) => {
      let count = 0;
      for (const part of parts(matches)) count += (await tallyOf(snapshot, part)).count;
      return count;
    });
    return { status: 200, text: bundleText('searchset', { total, ...selfLink(call) }) };
  }

  private async stream(call: EverythingCall, options: ReadOptions): Promise<Produce> {
    const { query, printer, request } = call;
    const { explain, timeoutSeconds: seconds } = request;
    const explained = explain && {
      explain: await this.reader.within(query, { seconds }, (snapshot, parts) =>
        explanationsOf(snapshot, parts(query), explain),
      ),
    };
    const head = printer.isLines ? undefined : bundleText('searchset', { ...selfLink(call), ...explained });
    return async (sink) => {
      const entries = new EntryStream(sink, head);
      let total = 0;
      await this.reader.within(query, options, async (snapshot, parts, reading) => {
        for await (const { text, count, mode } of chunksOf(snapshot, parts(query), printer)) {
          if (mode === 'match') total += count;
          await reading.sending(entries.write(text));
        }
      });
      for (const note of notesOf(call)) await entries.write(note);
      await entries.end(`,"total":${total}`);
    };
  }

  /** Returns the first page, which also creates the list of all pages, or a later page. */
  private async page(call: EverythingCall, options: ReadOptions): Promise<Produce> {
    const { request, query, printer, urlWith } = call;
    const { cursor, count = 0 } = request;
    const page =
      cursor === undefined
        ? await this.lists.begin(query, count, options)
        : await this.lists.page(cursor, query.patientId, count);
    const { link } = selfLink(call);
    const next =
      page.next === undefined ? [] : [{ relation: 'next', url: urlWith(linkedParameters(request, page.next)) }];
    const head = bundleText('searchset', { total: page.total, link: [...link, ...next] });
    return async (sink) => {
      const notes = cursor === undefined ? notesOf(call) : [];
      await this.pages.write(new EntryStream(sink, head), page, printer, { limit: query.limit, notes });
    };
  }
}

async function wholeAnswer(call: EverythingCall, entries: readonly Entry[]): Promise<FhirAnswer> {
  const texts = [await call.printer.print(entries, 'match'), ...notesOf(call)].filter((text) => text !== '');
  if (call.printer.isLines) return { status: 200, text: texts.join(''), ...linesType(call) };
  return { status: 200, text: bundleText('searchset', { total: entries.length, ...selfLink(call) }, texts) };
}

/** NDJSON is sent as printed, so the answer names its content type. Other formats are converted later. */
const linesType = ({ printer, format }: EverythingCall): Pick<FhirAnswer, 'contentType'> =>
  printer.isLines ? { contentType: format.contentType } : {};

/**
 * Notes for the caller: an OperationOutcome that names the types which the caller may not search. They are named
 * whether or not such resources are stored, so that a name reveals nothing.
 */
const notesOf = ({ hiddenTypes, printer }: EverythingCall): readonly string[] =>
  hiddenTypes.length === 0
    ? []
    : [printer.outcome(`Types that you may not search are left out: ${hiddenTypes.join(', ')}.`)];

const selfLink = ({ request, urlWith }: EverythingCall): { readonly link: readonly object[] } => ({
  link: [{ relation: 'self', url: urlWith(request.used) }],
});
