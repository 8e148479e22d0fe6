import { Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { OperationId } from '../../platform/http/route-access';
import { BundleProcessor } from './bundle-processor';
import { IsolationGuard } from '../api/isolation.guard';
import { readBodyText } from '../../fhir/edge/resource-request';
import { ResourceRoutes } from '../api/resource-routes';

/** Batch and transaction (http://hl7.org/fhir/R4/http.html#transaction). Access to each entry is decided separately. */
@ResourceRoutes(IsolationGuard)
export class BundleController {
  constructor(
    private readonly bundles: BundleProcessor,
    private readonly environment: Environment,
  ) {}

  @Post()
  @OperationId('FhirBundle')
  async process(@Req() request: Request, @Res() response: Response): Promise<void> {
    const rootUrl = rootUrlOf(request, this.environment);
    const produce = await this.bundles.process(readBodyText(request), {
      root: rootUrl.slice(this.environment.baseUrl.length),
      rootUrl,
      authorization: request.get('authorization'),
      prefer: request.get('prefer'),
      isSystem: false,
    });
    await sendAnswer(response, { status: 200, produce });
  }
}
