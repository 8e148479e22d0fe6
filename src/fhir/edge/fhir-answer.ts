import { type Request, type Response } from 'express';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { queryOf } from '../../platform/http/raw-request';
import { type Produce, sendBody, sendHead, termsOf, type TextPrinter } from '../../platform/http/send-body';
import { IndentedJson } from '../../platform/json/indent-json';
import { YamlOfJson } from '../../platform/yaml/print-yaml';
import { DEFAULT_FORMAT } from './format';
import { isNotModified } from './not-modified';
import { outcomeOfWrite } from './operation-outcome';
import { preferredReturnOf } from './prefer';
import { readSubset } from '../subset/read-subset';
import { formatOfRequest, isPretty } from './requested-format';
import { type Subset, subsetOf } from '../subset/subset';

export interface FhirAnswer {
  readonly status: number;
  readonly text?: string;
  /**
   * Used instead of `text`: writes the body while it is produced. Each text that it writes ends between two JSON
   * tokens.
   * @internal
   */
  readonly produce?: Produce;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Set if the body is one version of one resource. Conditional reads, `_summary` and `Prefer` then apply to it.
   * @internal
   */
  readonly isResource?: true;
  /**
   * When the version in the body or the headers was stored. Header `Last-Modified` has whole seconds.
   * @internal
   */
  readonly updatedAt?: Date;
  /** Media type of a body that is no JSON. Such a body is sent unchanged. */
  readonly contentType?: string;
}

/** Key in `response.locals` under which audit records find the text of the one returned resource. */
export const SHOWN_RESOURCE = 'shownResource';

/**
 * Key in `response.locals` of the error that the answer reports, for a Bundle, which reports it as the error of its
 * entry.
 */
export const REFUSAL = 'refusal';

/** Key in `response.locals` of {@link FhirAnswer.updatedAt}, for the entry of a Bundle. */
export const UPDATED_AT = 'updatedAt';

/**
 * Headers of the request on which an answer depends, in addition to its URL. Caches must revalidate each time, since
 * rights may have changed.
 */
const VARY = 'Accept, Accept-Encoding, Authorization';
const CACHE_CONTROL = 'private, no-cache';

/**
 * Sends an answer in the form that the caller requests: the format of `_format` or `Accept`, `_pretty`, `_summary` and
 * `_elements`. Handles 304 for a known version, `Prefer: return` of writes, and compression. JSON text is sent
 * unchanged; it is parsed and serialized only if the requested form needs it. {@link sendBody} sends it.
 * @throws ServiceError 'invalid' for malformed parameters, and errors of `produce`
 */
export async function sendAnswer(response: Response, answer: FhirAnswer): Promise<void> {
  const { req: request } = response;
  const { status, text, produce, headers } = answer.isResource === true ? await asPreferred(response, answer) : answer;
  if (answer.isResource === true) response.locals[SHOWN_RESOURCE] = answer.text;
  response.locals[UPDATED_AT] = answer.updatedAt;
  const body = produce ?? text;
  const caching = cachingOf(response);
  if (body === undefined) {
    sendHead(response, { status, headers: Object.assign(caching, headers) });
    return;
  }
  const { contentType, printer } = printingOf(request, answer.contentType);
  const head = { status, headers: Object.assign(caching, headers, { 'Content-Type': contentType }) };
  await sendBody(response, head, body, printer);
}

function cachingOf(response: Response): Readonly<Record<string, string>> {
  const others = response.getHeader('Vary');
  return { Vary: others === undefined ? VARY : `${String(others)}, ${VARY}`, 'Cache-Control': CACHE_CONTROL };
}

function printingOf(
  request: Request,
  given: string | undefined,
): { readonly contentType: string; readonly printer?: TextPrinter } {
  if (given !== undefined) return { contentType: given };
  // Unsupported formats are refused before a handler runs; the error is JSON.
  const { contentType, isYaml } = formatOfRequest(request) ?? DEFAULT_FORMAT;
  if (isYaml) return { contentType, printer: new YamlOfJson() };
  return isPretty(request) ? { contentType, printer: new IndentedJson() } : { contentType };
}

function asPreferred(response: Response, answer: FhirAnswer): FhirAnswer | Promise<FhirAnswer> {
  const { req: request } = response;
  const { headers = {} } = answer;
  if (request.method !== 'GET' && request.method !== 'HEAD') return asWritten(request, answer);
  if (isNotModified(request.headers, headers)) return { status: 304, headers };
  if (!request.url.includes('?')) return answer;
  const { type } = request.params;
  const types = typeof type === 'string' ? [type] : [];
  const subset = readSubset(queryOf(request), { types, prefer: request.get('prefer') });
  if (subset === 'count') throw parameterInvalid('_summary=count is for searches and histories.');
  return subset === undefined ? answer : asSubset(response, answer, subset);
}

async function asSubset(
  response: Response,
  { status, text = '', headers = {} }: FhirAnswer,
  subset: Subset,
): Promise<FhirAnswer> {
  return { status, headers, text: await termsOf(response).slices.run(subsetOf(text, subset)) };
}

function asWritten(request: Request, answer: FhirAnswer): FhirAnswer {
  const preferred = preferredReturnOf(request.headers.prefer);
  if (preferred === undefined) return answer;
  const { status, text, headers = {} } = answer;
  const applied = { ...headers, 'Preference-Applied': `return=${preferred}` };
  switch (preferred) {
    case 'minimal':
      return { status, headers: applied };
    case 'OperationOutcome':
      return { status, headers: applied, text: JSON.stringify(outcomeOfWrite(request.method, status, headers.ETag)) };
    case 'representation':
      return { status, headers: applied, ...(text === undefined ? {} : { text }) };
  }
}
