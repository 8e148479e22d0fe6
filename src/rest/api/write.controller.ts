import { Delete, Param, Patch, Post, Put, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type FhirAnswer, sendAnswer } from '../../fhir/edge/fhir-answer';
import { readBodyInSteps } from '../../fhir/edge/resource-request';
import { informationOutcome } from '../../fhir/edge/operation-outcome';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { OperationId } from '../../platform/http/route-access';
import { Slices } from '../../platform/time/slices';
import { type ConditionalDeletion, type ConditionalResult, ConditionalWriter } from '../conditional/conditional-writer';
import { ShownContent, type ShownWrite } from '../conditional/shown-content';
import { ResourceTypes } from '../../model/resource-types';
import { assertId, ResourceDraft } from '../../model/resource-draft';
import { ResourceWriter } from '../../resource/resource-writer';
import { RowLimits } from '../../resource/rows/row-limits';
import { type WriteConditions } from '../../resource/writes/write';
import { HEADER_TAGS, preconditionsOf } from '../conditional/entity-tags';
import {
  assertNoCriteria,
  assertNoHeaders,
  createCriteriaOf,
  isConditionalCreate,
  isNoContent,
  isRemoveAll,
  writeCriteriaOf,
} from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { patchOf } from './patch-request';
import { locationOf, resourceAnswer, withoutResource } from './resource-answer';
import { WRITE_IDS } from '../../resource/access/entry-access';
import { ResourceRoutes, type RouteParams } from './resource-routes';

const BY_ID_OR_CRITERIA = [':type/:id', ':type'];

/** Sets the operation ids of the writes by a method. */
const WriteId = (method: keyof typeof WRITE_IDS, isByCriteria: (request: Request) => boolean): MethodDecorator =>
  OperationId((request) => WRITE_IDS[method][isByCriteria(request) ? 1 : 0], WRITE_IDS[method]);

const hasNoId = ({ params }: Request): boolean => params.id === undefined;

/**
 * Create, update, patch and delete (http://hl7.org/fhir/R4/http.html) on both roots. An id or criteria select the
 * resource.
 */
@ResourceRoutes(IsolationGuard)
export class WriteController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly writer: ResourceWriter,
    private readonly conditional: ConditionalWriter,
    private readonly content: ShownContent,
    private readonly limits: RowLimits,
    private readonly environment: Environment,
    private readonly slices: Slices,
  ) {}

  @Post(':type')
  @WriteId('POST', isConditionalCreate)
  async create(@Param('type') type: string, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    this.types.assertWritable(type, 'create', 'type');
    assertNoHeaders(request, ['If-Match', 'If-None-Match', 'If-Unmodified-Since'], 'Send If-None-Exist with criteria.');
    const draft = await this.draftOf(request, type);
    const criteria = createCriteriaOf(request);
    const options = { reach: await this.limits.reach() };
    const written =
      criteria === undefined
        ? await this.content.ofSent<ConditionalResult>(draft, async (own) => ({
            outcome: 'created',
            resource: await this.writer.create(own, options),
          }))
        : await this.content.ofFound(() => this.conditional.create(draft, criteria, options), options.reach);
    await this.answer(written, response);
  }

  @Put(BY_ID_OR_CRITERIA)
  @WriteId('PUT', hasNoId)
  async update(@Param() { type = '', id }: RouteParams, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    this.assertTarget('update', type, id, request);
    const draft = await this.draftOf(request, type, id);
    const options = await this.optionsOf(request);
    const written = await this.content.ofSent<ConditionalResult>(draft, (own) =>
      id === undefined
        ? this.conditional.put(own, writeCriteriaOf(request, type), options)
        : this.writer.put(own, id, options),
    );
    await this.answer(written, response);
  }

  @Patch(BY_ID_OR_CRITERIA)
  @WriteId('PATCH', hasNoId)
  async patch(@Param() { type = '', id }: RouteParams, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    this.assertTarget('update', type, id, request);
    const patch = await patchOf(request, this.environment.bodyLimitBytes, this.slices);
    const options = await this.optionsOf(request);
    const write = (): Promise<ConditionalResult> =>
      id === undefined
        ? this.conditional.patch(type, writeCriteriaOf(request, type), patch, options)
        : this.writer.patch(type, id, patch, options);
    await this.answer(await this.content.ofFound(write, options.reach), response);
  }

  @Delete(BY_ID_OR_CRITERIA)
  @WriteId('DELETE', hasNoId)
  async delete(@Param() { type = '', id }: RouteParams, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    this.assertTarget('delete', type, id, request);
    const options = await this.optionsOf(request);
    const hasContent = !isNoContent(request);
    const all = id === undefined && isRemoveAll(request);
    const remove = async (): Promise<ConditionalDeletion> =>
      id === undefined
        ? this.conditional.delete(type, writeCriteriaOf(request, type), { ...options, all })
        : deletionOf(await this.writer.delete(type, id, options));
    if (hasContent) return sendAnswer(response, deletionAnswer(await this.content.ofFound(remove, options.reach)));
    await remove();
    return sendAnswer(response, { status: 204 });
  }

  private async draftOf(request: Request, type: string, id?: string): Promise<ResourceDraft> {
    return ResourceDraft.of(await this.slices.run(readBodyInSteps(request)), type, id);
  }

  /**
   * Checks the type and the id of a write.
   * @param id undefined if criteria select the resource
   * @throws ServiceError for a type that is unknown or refuses such writes, for a malformed id, or for criteria in
   *   addition to the id
   */
  private assertTarget(write: 'update' | 'delete', type: string, id: string | undefined, request: Request): void {
    if (id === undefined) {
      this.types.assertWritable(type, write === 'delete' ? 'conditional-delete' : write, 'type');
      return;
    }
    this.types.assertWritable(type, write, 'instance');
    assertId(id);
    assertNoCriteria(request);
  }

  /** The versions that the headers require, and the rows that the caller may access. */
  private async optionsOf(request: Request): Promise<WriteConditions> {
    assertNoHeaders(request, ['If-None-Exist', 'If-Unmodified-Since'], 'Send If-Match, or criteria in the URL.');
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    return { ...preconditionsOf({ ifMatch, ifNoneMatch }, HEADER_TAGS), reach: await this.limits.reach() };
  }

  private async answer(written: ShownWrite<ConditionalResult>, response: Response): Promise<void> {
    const { outcome, resource, shown } = written;
    const isNew = outcome === 'created';
    const location = locationOf(rootUrlOf(response.req, this.environment), resource);
    const headers = {
      ...(isNew || outcome === 'existed' ? { Location: location } : {}),
      ...(outcome === 'existed' ? { 'Content-Location': location } : {}),
    };
    const answer = resourceAnswer(isNew ? 201 : 200, shown ?? resource, headers);
    await sendAnswer(response, shown === undefined ? withoutResource(answer) : answer);
  }
}

const deletionOf = (resource: ConditionalDeletion['resource']): ConditionalDeletion =>
  resource === undefined ? { count: 0 } : { count: 1, resource };

/** The answer to a deletion; a deleted resource that the caller may not read is left out. */
function deletionAnswer({ count, resource, shown }: ShownWrite<ConditionalDeletion>): FhirAnswer {
  if (count === 0) return { status: 204 };
  if (resource !== undefined) return shown === undefined ? { status: 204 } : resourceAnswer(200, shown);
  return { status: 200, text: JSON.stringify(informationOutcome(`${count} resources were deleted.`)) };
}
