import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { handlerNameOf } from '../platform/discovery/handler-calls';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { StartError } from '../platform/errors/start-error';
import { OperationNames } from '../platform/http/operation-names';
import { operationIdOfCode } from '../platform/http/route-access';
import { ResourceTypes } from '../model/resource-types';
import { ANY_TYPE, Operation, OPERATION, type OperationDefinition, type OperationHandler } from './operation';

const CODE = /^[A-Za-z][A-Za-z0-9_-]*$/;

@Injectable()
export class OperationRegistry
  extends HandlerRegistry<OperationDefinition, OperationHandler>
  implements OnApplicationBootstrap
{
  constructor(
    discovery: DiscoveryService,
    private readonly names: OperationNames,
    private readonly types: ResourceTypes,
  ) {
    const keyOf = ({ level, resourceType, code }: OperationDefinition): string =>
      operationKey(level, code, resourceType);
    super(discovery, Operation, keyOf, ['execute'], OPERATION);
  }

  protected override faultOf(meta: OperationDefinition, handler: OperationHandler): string | undefined {
    const { code, methods, level, resourceType } = meta;
    if (!CODE.test(code))
      return `the code "${code}" must begin with a letter, followed by letters, digits, "-" or "_". The "$" is not part of it`;
    if (methods.length === 0) return `$${code} has no methods. Name GET, POST or both`;
    if ((level === 'system') !== (resourceType === undefined))
      return `$${code} has the level "${level}" ${resourceType === undefined ? 'and no resourceType. Name one, or ANY_TYPE for all' : `and the resourceType "${resourceType}". Name another level, or no type`}`;
    return super.faultOf(meta, handler);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    const owners = new Map([...this.names.all()].map((id) => [id, 'a route']));
    for (const { meta, handler } of this.all()) {
      const [id, own] = [operationIdOfCode(meta.code), `$${meta.code}`];
      const owner = owners.get(id) ?? own;
      // Policies link to operations by id, so a policy for one would grant both.
      if (owner !== own)
        throw new StartError(
          `${handlerNameOf(handler)}: ${own} has the id ${id}, which is that of ${owner}. Rename it.`,
        );
      owners.set(id, own);
    }
    for (const { meta } of this.all()) {
      this.names.add(operationIdOfCode(meta.code));
      this.types.routeNames.add(`$${meta.code}`);
    }
  }

  /** @throws StartError for a misspelt type, at which nobody could call the operation */
  onApplicationBootstrap(): void {
    for (const { meta, handler } of this.all())
      if (meta.resourceType !== undefined && meta.resourceType !== ANY_TYPE)
        this.types.assertNamed(meta.resourceType, handler);
  }
}

export const operationKey = (level: OperationDefinition['level'], code: string, resourceType = ''): string =>
  `${level} ${resourceType} $${code}`;
