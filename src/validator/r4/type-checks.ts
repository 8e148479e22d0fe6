import {
  type ElementDefinition,
  isPrimitiveType,
  isR4ResourceType,
  isSubtype,
  memberKey,
} from '../../fhir/definitions/definitions';
import { isFhirId } from '../../fhir/reference';
import { memoized } from '../../platform/memoized';
import { type Rest, then } from '../../platform/time/steps';
import { bindingCheckOf, type ElementCheck, type ItemCheck } from './binding-check';
import { type ElementTables } from '../../fhir/definitions/element-tables';
import { isObject } from '../../platform/json/plain-object';
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
import { referenceCheck } from './reference-check';
import { type ValidationRun } from './validation-run';

/**
 * The type of a resource's id. HL7's definitions say string, but its web pages say id
 * (http://hl7.org/fhir/R4/resource.html#id).
 */
const RESOURCE_ID = ['id'];

/** Checks a nested resource, whose references are resolved inside of it. */
export type NestedResourceCheck = (value: unknown, isContained: boolean, run: ValidationRun) => Rest;

/** The checks of all types. Each is compiled to closures at its first use. */
export class TypeChecks {
  /** The table of a type. It is built at its first use, since types contain each other. */
  private readonly tableOf = memoized((type) => this.compile(type));

  constructor(
    private readonly elements: ElementTables,
    private readonly checkNested: NestedResourceCheck,
  ) {}

  check(type: string, value: unknown, run: ValidationRun): Rest {
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
    let table: ObjectTable | undefined;
    const check: ElementCheck = (item, run) => {
      table ??= this.tableOf(type);
      return checkObject(table, item, run);
    };
    return isSubtype(type, 'Reference') ? followedBy(check, referenceCheck(targets)) : check;
  }
}

const followedBy =
  (first: ElementCheck, second: ItemCheck): ElementCheck =>
  (item, run) => {
    return then(first(item, run), () => {
      second(item, run);
    });
  };

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

/** The check of `{resourceType, id}`, the form of references in types of this server. */
function nativeReferenceCheck(targets: readonly string[]): ElementCheck {
  return (item, run) => {
    if (!isObject(item)) {
      run.report('structure', `It must be an object with "resourceType" and "id", not ${jsonKindOf(item)}.`);
      return undefined;
    }
    const { resourceType, id, ...others } = item;
    const [unknown] = Object.keys(others).filter((key) => key !== 'display' && key !== 'extension');
    if (unknown !== undefined)
      run.reportAt(unknown.slice(0, 64), 'structure', 'It must have "resourceType" and "id", and may have "display".');
    if (typeof resourceType !== 'string' || (targets.length > 0 && !targets.includes(resourceType))) {
      run.reportAt(
        'resourceType',
        'value',
        targets.length === 0 ? 'It must be a resource type.' : `It must be one of ${targets.join(', ')}.`,
      );
    }
    if (typeof id !== 'string' || !isFhirId(id)) run.reportAt('id', 'value', 'It must be an id.');
    return undefined;
  };
}
