import { describe, expect, it } from '@jest/globals';
import { compilePaths, parseExpression, walkSteps } from '../../fhirpath/fhirpath';
import { Scope } from './scope';

function evaluate(expression: string, resource: { resourceType: string; [member: string]: unknown }): unknown[] {
  const found: unknown[] = [];
  for (const { steps } of compilePaths(parseExpression(expression), resource.resourceType)) {
    walkSteps(steps, (value) => found.push(value))(resource, new Scope(resource, 'http://localhost:3000'));
  }
  return found;
}

function typesOf(expression: string, type: string): (string | undefined)[] {
  return compilePaths(parseExpression(expression), type).map((branch) => branch.type);
}

const observation = {
  resourceType: 'Observation',
  contained: [{ resourceType: 'Patient', id: 'p' }],
  subject: { reference: '#p' },
  valueQuantity: { value: 5 },
  component: [{ valueQuantity: { value: 6 } }, { valueString: 'high' }],
};

describe(compilePaths.name, () => {
  it('resolves the types of a choice and selects its member by the type', () => {
    expect(typesOf('Observation.effective', 'Observation')).toEqual(['dateTime', 'Period', 'Timing', 'instant']);
    expect(typesOf('(Observation.value as Quantity)', 'Observation')).toEqual(['Quantity']);
    expect(
      evaluate('(Observation.value as Quantity) | Observation.component.value.ofType(Quantity)', observation),
    ).toEqual([{ value: 5 }, { value: 6 }]);
  });

  it('treats a type as each of its ancestors', () => {
    expect(typesOf('Condition.onset as Quantity', 'Condition')).toEqual(['Age']);
    expect(evaluate('DomainResource.contained.id', observation)).toEqual(['p']);
  });

  it('omits alternatives that name other types', () => {
    expect(typesOf('Patient.name | Person.name', 'Person')).toEqual(['HumanName']);
    expect(typesOf('Patient.name', 'Person')).toEqual([]);
  });

  it('starts a path without a root at the resource', () => {
    expect(typesOf('name | alias', 'InsurancePlan')).toEqual(['string', 'string']);
  });

  it.each([
    [{ reference: '#p' }, true],
    [{ reference: '#q' }, false],
    [{ reference: 'Patient/1' }, true],
    [{ reference: 'Patient/1/_history/2' }, true],
    [{ reference: 'http://localhost:3000/fhir/Patient/1' }, true],
    [{ reference: 'https://other.example/Patient/1' }, true],
    [{ reference: 'Group/1' }, false],
    [{ reference: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', type: 'Patient' }, true],
    [{ reference: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520' }, false],
    [{ identifier: { value: '5' }, type: 'Patient' }, false],
    ['Patient/1', false],
  ])('reads the type of %j without resolving it: is Patient: %s', (subject, isPatient) => {
    const found = evaluate('Observation.subject.where(resolve() is Patient)', { ...observation, subject });
    expect(found).toEqual(isPatient ? [subject] : []);
  });

  it('filters by the value of a member', () => {
    const telecom = [{ system: 'phone', value: '1' }, { system: 'email', value: '2' }, 'x', null];
    expect(evaluate("Patient.telecom.where(system='phone').value", { resourceType: 'Patient', telecom })).toEqual([
      '1',
    ]);
  });

  it('applies an index to the whole collection', () => {
    const entry = [null, { resource: { id: 'a' } }, { resource: { id: 'b' } }];
    expect(evaluate('Bundle.entry[0].resource', { resourceType: 'Bundle', entry })).toEqual([{ id: 'a' }]);
    expect(evaluate('Bundle.entry[0].resource', { resourceType: 'Bundle', entry: [] })).toEqual([]);
  });

  it('returns the value of a named extension', () => {
    const extension = [
      { url: 'http://a', valueCode: 'x' },
      { url: 'http://b', valueCode: 'y' },
    ];
    expect(evaluate("Patient.extension('http://b')", { resourceType: 'Patient', extension })).toEqual(['y']);
  });

  it.each([
    [{}, [false]],
    [{ deceasedBoolean: false }, [false]],
    [{ deceasedBoolean: true }, [true]],
    [{ deceasedDateTime: '2020' }, [true]],
  ])('evaluates the deceased condition for %j to %j', (members, answer) => {
    const patient = { resourceType: 'Patient', ...members };
    expect(evaluate('Patient.deceased.exists() and Patient.deceased != false', patient)).toEqual(answer);
  });

  it('evaluates three-valued logic', () => {
    const patient = { resourceType: 'Patient', active: true };
    const answers = [
      "gender = 'x' and active = false",
      "gender = 'x' or active = true",
      "gender = 'x' or active = false",
    ];
    expect(answers.map((text) => evaluate(text, patient))).toEqual([[false], [true], []]);
  });

  it('follows plain paths in types without element tables', () => {
    const session = {
      resourceType: 'Session',
      user: { resourceType: 'User', id: 'u' },
      tags: [{ code: 'a' }, 5, { code: 'b' }],
    };
    expect(evaluate('Session.user | tags.code', session)).toEqual([{ resourceType: 'User', id: 'u' }, 'a', 'b']);
    expect(typesOf('Resource.meta.tag', 'Session')).toEqual(['Coding']);
  });

  it.each([
    ['Observation.colour', 'Observation has no element "colour"'],
    ['Observation.subject.resolve()', 'resolve() is not supported there'],
    ['Observation.code.memberOf(5)', 'memberOf() is not supported there'],
    ["'a'", 'only paths to elements can be indexed'],
    ['Observation.value[0]', 'an index after a union or choice is not supported'],
    ['Observation.where(code)', 'values of type CodeableConcept are left to the library there'],
    ['Observation.where(code = status)', 'the equality of CodeableConcept and code is left to the library'],
    ['Observation.value as (a.b)', 'a type name is expected after "is" and "as"'],
    ['%context.code', '%context is not supported there'],
    ['Observation.status + 1', '"+" of string and integer is left to the library'],
    ["Observation.code.where(a, 'b')", 'where() is not supported there'],
    [`Observation${'.extension.value'.repeat(3)}`, 'it leads to too many elements at once'],
    ['Observation.extension.value.where(extension.value.extension.exists())', 'it leads to too many elements at once'],
  ])('refuses %s: %s', (expression, reason) => {
    expect(() => typesOf(expression, 'Observation')).toThrow(reason);
  });

  it('refuses "as" if no type table defines the member', () => {
    expect(() => typesOf('Session.value as Quantity', 'Session')).toThrow(
      'name the JSON member instead, such as "valueQuantity"',
    );
  });

  it('returns nothing for values of other shapes', () => {
    expect(
      evaluate('Observation.component.code.coding.code', {
        resourceType: 'Observation',
        component: [5, 'x', [{}], { code: true }],
      }),
    ).toEqual([]);
  });
});
