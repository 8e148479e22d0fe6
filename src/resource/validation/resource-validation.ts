import { Injectable } from '@nestjs/common';
import { ElementTables, type OwnShapes } from '../../fhir/definitions/element-tables';
import { ResourceValidator } from '../../validator/validator';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { type Steps } from '../../platform/time/steps';
import { type OwnResourceType } from '../../model/resource-type';
import { ResourceTypes } from '../../model/resource-types';

/** What the definitions of its type say of a resource. */
export interface CheckedContent {
  readonly issues: readonly ErrorIssue[];
  readonly extensionUrls: readonly string[];
}

const NOT_CHECKED: CheckedContent = { issues: [], extensionUrls: [] };

/** Stands for all native types in the name of the shape of their `meta`. */
const NATIVE = 'Native';

/** `meta` of native types: that of R4 with the time of creation, as resources have it that a Bundle brings back. */
const NATIVE_META: OwnShapes = {
  [`${NATIVE}.meta`]: {
    versionId: '0..1 id',
    lastUpdated: '0..1 instant',
    createdAt: '0..1 instant',
    source: '0..1 uri',
    profile: '0..* canonical(StructureDefinition)',
    security: '0..* Coding',
    tag: '0..* Coding',
  },
};

/** Validates resources of R4 by HL7's definitions, and types of modules by the shape that they bring; others are open. */
@Injectable()
export class ResourceValidation {
  private built: ResourceValidator | undefined;

  constructor(private readonly types: ResourceTypes) {}

  /** All faults of a resource, at most 100, and the urls of its extensions; none where its content is open. */
  *check(resource: Resource): Steps<CheckedContent> {
    const validator = this.validator();
    const { resourceType: type } = resource;
    return validator.hasShape(type) ? yield* validator.run(type, withoutServerMeta(resource)) : NOT_CHECKED;
  }

  /** Asked at the first write: modules have registered their types by then. */
  private validator(): ResourceValidator {
    if (this.built === undefined) {
      const own = this.types.described();
      const shapes = Object.assign({}, NATIVE_META, ...own.map(shapesOf)) as OwnShapes;
      const open = own.filter(({ shape }) => shape === undefined).map(({ type }) => type);
      const native = own.filter(({ isNative }) => isNative === true).map(({ type }) => type);
      this.built = new ResourceValidator(new ElementTables(shapes, new Set(open), new Set([NATIVE, ...native])));
    }
    return this.built;
  }
}

function shapesOf({ type, shape = {}, isNative }: OwnResourceType): OwnShapes {
  const elements = shape[type];
  return isNative === true && elements !== undefined
    ? { ...shape, [type]: { ...elements, meta: `0..1 ${NATIVE}.meta` } }
    : shape;
}

/** @throws ServiceError 'unprocessable' that holds all issues, when one of them is an error. */
export function assertNoErrors(type: string, issues: readonly ErrorIssue[]): void {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new ServiceError(
    'unprocessable',
    `The ${type} is not valid. ${first.expression}: ${first.diagnostics}${more}`,
    {
      issues: errors,
    },
  );
}

/** `versionId` and `lastUpdated` are the server's own: what was sent is not stored. */
function withoutServerMeta(resource: Resource): Resource {
  if (typeof resource.meta !== 'object') return resource;
  const { versionId, lastUpdated, ...meta } = resource.meta;
  if (versionId === undefined && lastUpdated === undefined) return resource;
  if (Object.keys(meta).length > 0) return { ...resource, meta };
  const { meta: _dropped, ...others } = resource;
  return others;
}
