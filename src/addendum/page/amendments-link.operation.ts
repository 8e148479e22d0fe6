import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import {
  answerParameters,
  Operation,
  type OperationDefinition,
  type OperationHandler,
  type OperationRequest,
  partsAnswer,
} from '../../operation/operation';
import { ServiceError } from '../../platform/errors/service-error';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../../platform/http/known-parameters';
import { RequestContext } from '../../platform/request/request-context';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { SessionLinks } from '../../session/session-links';
import { RecordReader } from './record-reader';

/** Headers of responses that contain a link or were opened by a link. */
export const LINK_HEADERS = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

const PARTS = { url: 'url', expires: 'instant' } as const;
const LINK = {
  code: 'amendments-link',
  level: 'instance',
  methods: ['POST'],
  enforcesRows: true,
  needsSession: true,
  details:
    'Opens $amendments without credentials, once and within 60 s, while the Session of the caller lives; rights are judged again then. HEAD does not use it up. Needs a Bearer token, and the right to $amendments.',
  answerParts: PARTS,
  exampleAnswer: answerParameters(PARTS, {
    url: 'http://localhost:3000/SDCDocument/vitals-1/$amendments?link-token=_fYwrkOC4oeIqatDvsHtA-Y9JOKxY3u-czeuxfpnC5M',
    expires: '2026-01-31T10:01:00.000Z',
  }),
} as const satisfies Partial<OperationDefinition>;

/** Makes a one-time link for a browser, since a browser sends no token when it opens a page. */
@Injectable()
abstract class AmendmentsLinkOperation implements OperationHandler {
  constructor(
    private readonly access: EntryAccesses,
    private readonly reader: RecordReader,
    private readonly links: SessionLinks,
    private readonly requests: RequestContext,
  ) {}

  async execute({ type = '', id = '', rootUrl, query, headers: { prefer } }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$amendments-link', query, SHAPE_PARAMETERS, prefer);
    const sessionId = this.requests.caller?.sessionId;
    if (sessionId === undefined)
      throw new ServiceError('token-required', 'A link ends with its Session: ask for it with a Bearer token.');
    const target = `${type}/${id}`;
    const rows = await this.access.grant({
      operationId: 'FhirAmendments',
      method: 'GET',
      url: `${target}/$amendments`,
      type,
      id,
      body: () => undefined,
      enforcesRows: true,
    });
    this.requests.grant(rows);
    await this.reader.read({ id, resourceType: type });
    const { token, expiresAt } = await this.links.make(sessionId, target);
    const url = `${rootUrl}/${target}/$amendments?link-token=${token}`;
    return { ...partsAnswer(PARTS, { url, expires: expiresAt }), headers: LINK_HEADERS };
  }
}

@Operation({
  ...LINK,
  resourceType: 'SDCDocument',
  exampleId: 'vitals-1',
  description: 'A link that opens the page of a document once, for a browser',
})
export class DocumentAmendmentsLink extends AmendmentsLinkOperation {}

@Operation({
  ...LINK,
  resourceType: 'SDCWorkflow',
  exampleId: 'rounds-1',
  description: 'A link that opens the page of a workflow once, for a browser',
})
export class WorkflowAmendmentsLink extends AmendmentsLinkOperation {}
