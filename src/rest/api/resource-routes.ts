import { applyDecorators, type CanActivate, Controller, type Type, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { FormatGuard } from '../../fhir/edge/format.guard';
import { EnforcesRows } from '../../platform/http/route-access';

/** The values of the parameters in the path of a route. */
export type RouteParams = Readonly<Record<string, string>>;

/**
 * A controller of the resource API. Its routes exist on both roots, `/fhir/…` and `/…`, answer in the formats of FHIR,
 * and access only the granted rows.
 * @param guards further guards
 */
export const ResourceRoutes = (...guards: readonly Type<CanActivate>[]): ClassDecorator =>
  applyDecorators(ApiExcludeController(), UseGuards(FormatGuard, ...guards), EnforcesRows(), Controller(['fhir', '']));
