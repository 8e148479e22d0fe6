import { describe, expect, it } from '@jest/globals';
import { patientCompartment } from '../../fhir/definitions/definitions';
import { SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { DATED, LASTING } from './care-dates';

const CARE_DATES = [
  ...Object.entries(DATED).flatMap(([code, types]) => types.map((type) => [type, code] as const)),
  ...[LASTING.code, LASTING.until].map((code) => ['Condition', code] as const),
];

describe('care dates', () => {
  const parameters = new SearchParameterSet();
  const linked = patientCompartment().resource.filter(({ param = [] }) => param.length > 0);

  it('are date parameters of types of the Patient compartment', () => {
    const types = linked.map(({ code }) => code);
    for (const [type, code] of CARE_DATES) {
      expect([type, types.includes(type)]).toEqual([type, true]);
      expect([type, code, parameters.find(type, code)?.kind]).toEqual([type, code, 'date']);
    }
  });

  it('exclude timeless types, persons, and types without a date parameter', () => {
    const dated = new Set(CARE_DATES.map(([type]) => type));
    const undated = linked.map(({ code }) => code).filter((type) => !dated.has(type));
    expect(undated).toEqual([
      ...['AllergyIntolerance', 'AppointmentResponse', 'BodyStructure', 'Coverage', 'DeviceUseStatement'],
      ...['EnrollmentRequest', 'FamilyMemberHistory', 'Group', 'MolecularSequence', 'Patient', 'Person'],
      ...['RelatedPerson', 'SupplyDelivery', 'SDCDocument', 'SDCWorkflow'],
    ]);
  });
});
