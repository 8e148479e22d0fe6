import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { assertAnswerable } from './requested-format';

/** Stands before the routes that answer with FHIR: a format that cannot be written is refused before anything is done. */
@Injectable()
export class FormatGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    assertAnswerable(context.switchToHttp().getRequest<Request>());
    return true;
  }
}
