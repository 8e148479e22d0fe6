import { All, Controller } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ServiceError } from '../../platform/errors/service-error';

/**
 * Refuses methods that the root of the API does not have. It is registered after the other routes of the root, and
 * before those of `/:type`, which would match `/fhir`.
 */
@ApiExcludeController()
@Controller(['fhir', ''])
export class OtherMethodsController {
  @All()
  notAllowed(): never {
    throw new ServiceError(
      'not-allowed',
      'Send a batch or transaction here with POST, or search over types with GET. Resources are at /{type}/{id}; GET /metadata tells what there is.',
      { allow: ['GET', 'HEAD', 'POST'] },
    );
  }
}
