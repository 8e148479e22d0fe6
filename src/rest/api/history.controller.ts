import { All, Get, Param, Res } from '@nestjs/common';
import { type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { assertKnownParameters, RESOURCE_PARAMETERS } from '../../platform/http/known-parameters';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { assertId } from '../../model/resource-draft';
import { LateTexts } from '../../store/late-texts';
import { ResourceHistory } from '../../resource/resource-history';
import { ResourceTypes } from '../../model/resource-types';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { RowCheck } from '../../resource/rows/row-check';
import { type RowLimit } from '../../search/rows/row-limit';
import { RowLimits } from '../../resource/rows/row-limits';
import { type HistoryScope } from '../../store/history-statements';
import { historyBundle } from './history-bundle';
import { type AskedHistory, readHistoryQuery } from './history-request';
import { resourceAnswer } from './resource-answer';
import { ResourceRoutes, type RouteParams } from './resource-routes';

/**
 * Routes for the versions of a resource, of a type, or of all resources (http://hl7.org/fhir/R4/http.html#history), and
 * for single versions.
 */
@ResourceRoutes()
export class HistoryController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly history: ResourceHistory,
    private readonly texts: LateTexts,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly reader: GrantedReader,
    private readonly environment: Environment,
  ) {}

  @Get('_history')
  @OperationId('FhirHistorySystem')
  async ofSystem(@Res() response: Response): Promise<void> {
    await this.answer('_history', { types: this.types.names() }, response);
  }

  @Get(':type/_history')
  @OperationId('FhirHistoryType')
  async ofType(@Param('type') type: string, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    await this.answer(`${type}/_history`, { types: [type] }, response);
  }

  @Get(':type/:id/_history')
  @OperationId('FhirHistory')
  async ofResource(@Param() { type = '', id = '' }: RouteParams, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    await this.answer(`${type}/${id}/_history`, { types: [type], id }, response);
  }

  /** Reads one version (http://hl7.org/fhir/R4/http.html#vread). */
  @Get(':type/:id/_history/:version')
  @OperationId('FhirVread')
  async vread(@Param() { type = '', id = '', version = '' }: RouteParams, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    const { req } = response;
    assertKnownParameters('A read', queryOf(req), RESOURCE_PARAMETERS, req.get('prefer'));
    await sendAnswer(response, resourceAnswer(200, await this.reader.readVersion(type, id, versionNumber(version))));
  }

  @All(':type/:id/_history/:version')
  versionNotAllowed(@Param('type') type: string): never {
    this.types.assertKnown(type);
    throw new ServiceError('history-read-only', 'A version never changes: it can be read with GET.', {
      allow: ['GET', 'HEAD'],
    });
  }

  @All(['_history', ':type/_history', ':type/:id/_history'])
  notAllowed(@Param() { type }: RouteParams): never {
    if (type !== undefined) this.types.assertKnown(type);
    throw new ServiceError('history-read-only', 'The history is append-only: it can be read with GET.', {
      allow: ['GET', 'HEAD'],
    });
  }

  private async answer(path: string, of: AskedHistory, response: Response): Promise<void> {
    const { req } = response;
    const query = readHistoryQuery(queryOf(req), of, req.get('prefer'));
    const limit = await this.limitOf(of);
    const asked = limit === undefined ? query : { ...query, limit, scope: within(limit, query.scope) };
    const page = await this.history.page(asked);
    const at = { rootUrl: rootUrlOf(req, this.environment), path };
    await sendAnswer(response, historyBundle(page, query, this.texts, at));
  }

  private async limitOf({ types, id }: AskedHistory): Promise<RowLimit | undefined> {
    const limit = await this.limits.current();
    if (limit === undefined || id === undefined) return limit;
    const named = types.map((type) => ({ type, id }));
    return this.rows.refreshed(limit, named);
  }
}

/** Removes from the scope the types of which the caller may read no row, since they need not be read. */
const within = (limit: RowLimit, scope: HistoryScope): HistoryScope => ({
  ...scope,
  types: scope.id === undefined ? scope.types.filter((type) => limit.types.includes(type)) : scope.types,
});

function versionNumber(text: string): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(text))
    throw new ServiceError('version-not-found', 'No such version: a version is a whole number such as 2.');
  return Number(text);
}
