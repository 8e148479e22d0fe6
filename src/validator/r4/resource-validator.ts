import {
  type ElementDefinition,
  isPrimitiveType,
  isR4ResourceType,
  isSubtype,
  memberKey,
  r4ResourceTypes,
} from '../../fhir/definitions/definitions';
import { ElementTables } from '../../fhir/definitions/element-tables';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { isObject } from '../../platform/json/plain-object';
import { memoized } from '../../platform/memoized';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { atOnce, type Steps } from '../../platform/time/steps';
import { bindingCheckOf, type ElementCheck, type ItemCheck } from './binding-check';
import { HAND_MADE } from './hand-made-invariants';
import { invariantsOfElement, invariantsOfType } from './invariant-check';
import {
  complexMember,
  type ElementShape,
  jsonKindOf,
  type KnownMember,
  primitiveItem,
  primitiveMember,
  siblingMember,
} from './member-check';
import { checkObject, type ObjectTable, type RequiredElement } from './object-check';
import { nativeReferenceCheck, referenceCheck } from './reference-check';
import { type Rest, then, ValidationRun } from './validation-run';

/**
 * The type of a resource's id. HL7's definitions say string, but its web pages say id
 * (http://hl7.org/fhir/R4/resource.html#id).
 */
const RESOURCE_ID = ['id'];

/**
 * Validates resources by the definitions of R4 4.0.1 (http://hl7.org/fhir/R4/validation.html): structure, cardinality,
 * formats, required bindings, references and invariants. The checks of a type are compiled at its first resource.
 */
export class ResourceValidator {
  /** The table of a type. It is built at its first use, since types contain each other. */
  private readonly tableOf = memoized((type) => this.compile(type));

  constructor(private readonly elements: ElementTables = new ElementTables()) {}

  /**
   * All issues of a resource, at most 100. The list is empty if the resource is valid, or if its type has no shape.
   * @param type the type as which it is validated
   * @param value the resource as `JSON.parse` returns it
   */
  validate(type: string, value: unknown): readonly ErrorIssue[] {
    return atOnce(this.run(type, value)).issues;
  }

  /** Validates like {@link validate}, but in steps. It also returns what else the walk found. */
  *run(type: string, value: unknown): Steps<ValidationRun> {
    const run = new ValidationRun();
    if (this.elements.isOpen(type)) return run;
    run.enter(type);
    if (isObject(value)) {
      const rest = run.inResource(value, () => this.check(type, value, run));
      if (rest !== undefined) yield* rest;
    } else run.report('structure', `It must be an object (${type}), not ${jsonKindOf(value)}.`);
    return run;
  }

  /** Checks a nested resource, which names its own type. */
  private checkNested(value: unknown, isContained: boolean, run: ValidationRun): Rest {
    if (!isObject(value)) {
      run.report('structure', `It must be a resource, not ${jsonKindOf(value)}.`);
      return undefined;
    }
    const { resourceType: type } = value;
    if (typeof type !== 'string') {
      run.reportAt('resourceType', 'required', 'A resource must name its type. Add "resourceType".');
      return undefined;
    }
    if (this.elements.isOpen(type)) return undefined;
    if (!this.elements.isResource(type)) {
      const hint = didYouMean(nearestCode(type, r4ResourceTypes()));
      run.reportAt('resourceType', 'structure', `"${type.slice(0, 64)}" is not a resource type of this server.${hint}`);
      return undefined;
    }
    if (!isContained) return run.inResource(value, () => this.check(type, value, run));
    return run.inContained(value, () =>
      then(this.check(type, value, run), () => {
        if (value.contained !== undefined)
          run.reportAt(
            'contained',
            'invariant',
            'dom-2: a contained resource must not contain others. Move them up to the container.',
          );
      }),
    );
  }

  private check(type: string, value: unknown, run: ValidationRun): Rest {
    return checkObject(this.tableOf(type), value, run);
  }

  private compile(type: string): ObjectTable {
    const elements = this.elements.elementsOf(type);
    if (elements === undefined) throw new Error(`type "${type}" has no definition`);
    const isResource = this.elements.isResource(type);
    const members = new Map<string, KnownMember>();
    const required: RequiredElement[] = [];
    if (isResource) members.set('resourceType', { check: () => undefined });
    for (const element of elements.values()) {
      const types = isResource && element.name === 'id' ? RESOURCE_ID : element.types;
      const keys = types.flatMap((of) => this.addMembers(members, type, element, of));
      if (element.isRequired) required.push({ name: element.name, keys });
    }
    const handMade = HAND_MADE[type];
    return {
      type,
      mayBeEmpty: isResource || this.elements.isNative(type),
      hasOtherMembers: this.elements.hasOtherMembers(type),
      members,
      required,
      rules: [...invariantsOfType(type), ...(handMade === undefined ? [] : [handMade])],
    };
  }

  private addMembers(
    members: Map<string, KnownMember>,
    owner: string,
    element: ElementDefinition,
    type: string,
  ): readonly string[] {
    const { name, isChoice, isRepeated } = element;
    const key = memberKey(element, type);
    const choice = isChoice ? { choice: { name, key } } : {};
    const shape: ElementShape = { name, isRepeated, item: this.itemCheck(owner, element, type) };
    if (!isPrimitiveType(type)) {
      members.set(key, { check: complexMember(shape), ...choice });
      return [key];
    }
    members.set(key, { check: primitiveMember(key, shape), ...choice });
    // In XML, ids and the urls of extensions are attributes. So these have no extensions.
    if (name === 'id' || (owner === 'Extension' && name === 'url')) return [key];
    const extensions: ElementCheck = (value, run) => this.check('Element', value, run);
    members.set(`_${key}`, { check: siblingMember(key, { name, isRepeated, item: extensions }), ...choice });
    return [key, `_${key}`];
  }

  private itemCheck(owner: string, element: ElementDefinition, type: string): ElementCheck {
    const value = this.valueCheck(owner, element, type);
    const others = [
      bindingCheckOf(owner, element.name, type, this.elements.ownTypes),
      ...invariantsOfElement(owner, element, type),
    ].filter((check) => check !== undefined);
    if (others.length === 0) return value;
    const checkOthers: ItemCheck = (item, run) => {
      for (const check of others) check(item, run);
    };
    return followedBy(value, checkOthers);
  }

  private valueCheck(owner: string, { name, targets }: ElementDefinition, type: string): ElementCheck {
    if (isPrimitiveType(type)) return urlCheckOf(owner, name, type) ?? primitiveItem(type);
    if (type === 'Any') return () => undefined;
    if (type === 'NativeReference') return nativeReferenceCheck(targets);
    if (type === 'Resource') {
      const isContained = name === 'contained';
      return (item, run) => this.checkNested(item, isContained, run);
    }
    const check: ElementCheck = (item, run) => this.check(type, item, run);
    return isSubtype(type, 'Reference') ? followedBy(check, referenceCheck(targets)) : check;
  }
}

const followedBy =
  (first: ElementCheck, second: ItemCheck): ElementCheck =>
  (item, run) =>
    then(first(item, run), () => {
      second(item, run);
    });

const plainUri = primitiveItem('uri');

const absoluteUri: ElementCheck = (item, run) => {
  if (typeof item !== 'string' || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(item)) return plainUri(item, run);
  run.report('value', 'It must be an absolute URI, such as "https://…" or "urn:uuid:…" with a UUID.');
  return undefined;
};

const extensionUrl: ElementCheck = (item, run) => {
  run.noteExtension(item);
  return plainUri(item, run);
};

/** The check of a url: that of an extension, or a canonical URL (http://hl7.org/fhir/R4/resource.html#canonical). */
function urlCheckOf(owner: string, name: string, type: string): ElementCheck | undefined {
  if (name !== 'url' || type !== 'uri') return undefined;
  if (owner === 'Extension') return extensionUrl;
  return isR4ResourceType(owner) ? absoluteUri : undefined;
}
