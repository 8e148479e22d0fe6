import { describe, expect, it } from '@jest/globals';
import {
  elementsOfType,
  isR4ResourceType,
  isSubtype,
  patientCompartment,
  r4ResourceTypes,
  searchParameterDefinitions,
} from './definitions';
import { readAsset } from '../../platform/assets';

describe('the definitions', () => {
  it.each(['elements', 'bindings', 'invariants', 'search-parameters', 'compartment-patient'])(
    'contain source, version and license of %s',
    (name) => {
      expect(JSON.parse(readAsset(`fhir/definitions/${name}.json`))).toMatchObject({
        source: { package: 'hl7.fhir.r4.examples', version: '4.0.1', license: 'CC0-1.0' },
      });
    },
  );

  it('contain the concrete resource types of R4', () => {
    expect(r4ResourceTypes().size).toBe(146);
    expect(
      ['Patient', 'Bundle', 'Resource', 'DomainResource', 'HumanName', 'SDCDocument', 'constructor'].map(
        isR4ResourceType,
      ),
    ).toEqual([true, true, false, false, false, false, false]);
  });

  it('contain types, cardinality and targets of elements', () => {
    const observation = elementsOfType('Observation');
    expect(observation?.get('subject')).toEqual({
      name: 'subject',
      isChoice: false,
      isRequired: false,
      isRepeated: false,
      types: ['Reference'],
      targets: ['Patient', 'Group', 'Device', 'Location'],
    });
    expect(observation?.get('value')).toMatchObject({ isChoice: true, isRepeated: false, targets: [] });
    expect(observation?.get('component')).toMatchObject({ isRepeated: true, types: ['Observation.component'] });
    expect(observation?.get('status')).toMatchObject({ isRequired: true, types: ['code'] });
  });

  it('inherit elements and resolve content references', () => {
    expect(elementsOfType('Observation')?.get('id')).toMatchObject({ types: ['string'] });
    expect(elementsOfType('Observation.component')?.get('extension')).toMatchObject({ types: ['Extension'] });
    expect(elementsOfType('Observation.component')?.get('referenceRange')).toMatchObject({
      types: ['Observation.referenceRange'],
    });
    expect(elementsOfType('SDCDocument')).toBeUndefined();
  });

  it('contain every type that an element names', () => {
    const unknown = [...r4ResourceTypes()]
      .flatMap((type) => [...(elementsOfType(type)?.values() ?? [])])
      .flatMap(({ types }) => types)
      .filter((type) => elementsOfType(type) === undefined);
    expect(unknown).toEqual([]);
  });

  it('contain the ancestors of each type', () => {
    expect([isSubtype('Age', 'Quantity'), isSubtype('Patient', 'Resource'), isSubtype('Quantity', 'Age')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('contain a base type for each search parameter', () => {
    const bases = new Set(searchParameterDefinitions().flatMap(({ base }) => base));
    expect([...bases].filter((base) => !isR4ResourceType(base))).toEqual(['DomainResource', 'Resource']);
  });

  it("contain the Patient compartment with the server's own types", () => {
    const { resource, ...rest } = patientCompartment();
    expect(rest).toMatchObject({
      resourceType: 'CompartmentDefinition',
      id: 'patient',
      code: 'Patient',
      version: '4.0.1',
    });
    const linked = resource.filter(({ param }) => param !== undefined);
    expect(linked).toHaveLength(68);
    expect(linked.find(({ code }) => code === 'Observation')).toEqual({
      code: 'Observation',
      param: ['subject', 'performer'],
    });
    expect(linked.slice(-2)).toEqual([
      { code: 'SDCDocument', param: ['patient'] },
      { code: 'SDCWorkflow', param: ['patient'] },
    ]);
  });
});
