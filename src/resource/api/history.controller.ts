import { All, Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../../fhir/fhir-answer';
import { FormatGuard } from '../../fhir/format.guard';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { assertId } from '../resource-draft';
import { ResourceReader } from '../resource-reader';
import { ResourceTypes } from '../resource-types';
import { countOf } from '../search/result-parameters';
import { bundleText, historyEntry, resourceAnswer } from './resource-answer';

/** The versions of one resource (http://hl7.org/fhir/R4/http.html#history, #vread). */
@ApiExcludeController()
@UseGuards(FormatGuard)
@Controller(['fhir', ''])
export class HistoryController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly reader: ResourceReader,
    private readonly environment: Environment,
  ) {}

  @Get(':type/:id/_history')
  @OperationId('FhirHistory')
  async history(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    const query = queryOf(request);
    const count = countOf(query);
    const before = query.get('_before');
    const { total, versions } = await this.reader.history(type, id, {
      count: count + 1,
      ...(before === null ? {} : { beforeVersion: versionNumber(before) }),
    });
    const page = versions.slice(0, count);
    const rootUrl = rootUrlOf(request, this.environment);
    const here = `${rootUrl}/${type}/${id}/_history`;
    const last = page.at(-1);
    const link = [
      { relation: 'self', url: `${here}?_count=${count}${before === null ? '' : `&_before=${before}`}` },
      ...(versions.length > count && last !== undefined
        ? [{ relation: 'next', url: `${here}?_count=${count}&_before=${last.version}` }]
        : []),
    ];
    const text = bundleText(
      'history',
      { total, link },
      page.map((version) => historyEntry(rootUrl, version)),
    );
    sendAnswer(response, { status: 200, text });
  }

  @Get(':type/:id/_history/:version')
  @OperationId('FhirVread')
  async vread(
    @Param() { type = '', id = '', version = '' }: Record<string, string>,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    sendAnswer(response, resourceAnswer(200, await this.reader.readVersion(type, id, versionNumber(version))));
  }

  @All([':type/:id/_history', ':type/:id/_history/:version'])
  notAllowed(@Param('type') type: string): never {
    this.types.assertKnown(type);
    throw new ServiceError('not-allowed', 'The history is append-only: it can be read with GET.', {
      allow: ['GET', 'HEAD'],
    });
  }
}

function versionNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new ServiceError('not-found', 'A version is a whole number such as 2.');
  return Number(text);
}
