import { applyDecorators, type CustomDecorator, SetMetadata } from '@nestjs/common';
import { type Request } from 'express';

export type RouteAccess = 'public' | 'token' | 'parts';
export const ROUTE_ACCESS = 'svc:route-access';

/**
 * Opens a route to callers without credentials.
 * @example
 * &#64;Controller('acme/motd')
 * export class MotdController {
 *   &#64;Get()
 *   &#64;PublicRoute()
 *   text(): string {
 *     return 'Visiting hours end at 20:00.';
 *   }
 * }
 */
export const PublicRoute = (): CustomDecorator => SetMetadata(ROUTE_ACCESS, 'public' satisfies RouteAccess);

/**
 * Opens a route to every caller with valid credentials. AccessPolicies are not evaluated for it.
 * @example
 * &#64;Controller('acme/shift')
 * export class ShiftController {
 *   &#64;Get()
 *   &#64;TokenIsEnough()
 *   shift(): string {
 *     return 'late';
 *   }
 * }
 */
export const TokenIsEnough = (): CustomDecorator => SetMetadata(ROUTE_ACCESS, 'token' satisfies RouteAccess);

/**
 * Opens a route to callers with valid credentials. The route itself checks the policies for each part of the request
 * (`EntryAccesses`), or for the whole request if it has no parts.
 */
export const DecidedByParts = (): CustomDecorator => SetMetadata(ROUTE_ACCESS, 'parts' satisfies RouteAccess);

export type OperationIdOf = (request: Request) => string;
export const OPERATION_ID = 'svc:operation-id';
/** The metadata key of all ids that a route may have, for {@link OperationNames}. */
export const OPERATION_NAMES = 'svc:operation-names';

/**
 * Names a route. An AccessPolicy links to it by `{resourceType: 'Operation', id}`.
 * @param names the ids that a function may return, unless a registry adds them to {@link OperationNames}
 * @example
 * &#64;Controller('acme/wards')
 * export class WardsController {
 *   constructor(private readonly reader: ResourceReader) {}
 *
 *   &#64;Get()
 *   &#64;OperationId('AcmeWards') // a policy links to it: {"resourceType": "Operation", "id": "AcmeWards"}
 *   async count(): Promise<number> {
 *     return (await this.reader.list('Ward')).length;
 *   }
 * }
 */
export const OperationId = (
  id: string | OperationIdOf,
  names: readonly string[] = [],
): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(OPERATION_ID, typeof id === 'string' ? () => id : id),
    SetMetadata(OPERATION_NAMES, typeof id === 'string' ? [id] : names),
  );

/** `FhirEverything` for the operation `everything`, `FhirDryRun` for `dry-run`. */
export const operationIdOfCode = (code: string): string =>
  `Fhir${code.replace(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())}`;

export const ENFORCES_ROWS = 'svc:enforces-rows';

/**
 * Declares that a route returns and writes only `RequestContext.rows`. Any other route refuses callers whose policies
 * limit them to some resources, since nobody would check which resources it returns.
 * @example
 * &#64;Controller('acme/beds')
 * export class BedsController {
 *   constructor(private readonly reader: GrantedReader) {}
 *
 *   &#64;Get()
 *   &#64;OperationId('AcmeBeds')
 *   &#64;EnforcesRows()
 *   async beds(): Promise<string> {
 *     return (await this.reader.read('Ward', '4B')).text;
 *   }
 * }
 */
export const EnforcesRows = (): CustomDecorator => SetMetadata(ENFORCES_ROWS, true);
