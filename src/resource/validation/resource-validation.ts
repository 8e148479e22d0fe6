import { Injectable } from '@nestjs/common';
import { ElementTables, type OwnShapes } from '../../fhir/definitions/element-tables';
import { ResourceValidator } from '../../validator/validator';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { type Steps } from '../../platform/time/steps';
import { type OwnResourceType } from '../../model/resource-type';
import { ResourceTypes } from '../../model/resource-types';

/** The result of validating a resource by the definitions of its type. */
export interface CheckedContent {
  readonly issues: readonly ErrorIssue[];
  readonly extensionUrls: readonly string[];
}

const NOT_CHECKED: CheckedContent = { issues: [], extensionUrls: [] };

/**
 * The shape of `meta` has the name `Native.meta`. All types of this server share it, so `Native` stands for each of
 * them.
 */
const NATIVE = 'Native';

/**
 * Shape of `meta` for types of this server. It is that of R4 plus the creation time, which resources of an exported
 * Bundle have.
 */
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

/**
 * Validates R4 resources by HL7's definitions, and resources of types that modules define by the registered shape. A
 * type without a shape allows any content.
 */
@Injectable()
export class ResourceValidation {
  private built: ResourceValidator | undefined;

  constructor(private readonly types: ResourceTypes) {}

  /**
   * All faults of a resource, at most 100, and the urls of its extensions. There are no faults if its type allows any
   * content.
   */
  *check(resource: Resource): Steps<CheckedContent> {
    const validator = this.validator();
    const { resourceType: type } = resource;
    return validator.hasShape(type) ? yield* validator.run(type, withoutServerMeta(resource)) : NOT_CHECKED;
  }

  /** The validator. It is created at the first write, since modules have registered their types by then. */
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

/**
 * Refuses a resource with errors.
 * @throws ServiceError 'unprocessable' with all issues, if one of them is an error
 */
export function assertNoErrors(type: string, issues: readonly ErrorIssue[]): void {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new ServiceError(
    'unprocessable',
    `The ${type} is not valid. ${first.expression}: ${first.diagnostics}${more}`,
    { code: 'resource-invalid', issues: errors },
  );
}

/** The resource without `versionId` and `lastUpdated`. The server sets both and does not store the sent values. */
function withoutServerMeta(resource: Resource): Resource {
  if (typeof resource.meta !== 'object') return resource;
  const { versionId, lastUpdated, ...meta } = resource.meta;
  if (versionId === undefined && lastUpdated === undefined) return resource;
  if (Object.keys(meta).length > 0) return { ...resource, meta };
  const { meta: _dropped, ...others } = resource;
  return others;
}
