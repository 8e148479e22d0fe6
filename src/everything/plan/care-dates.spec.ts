import { describe, expect, it } from '@jest/globals';
import { patientCompartment } from '../../fhir/definitions/definitions';
import { SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { CARE_DATES } from './care-dates';

describe('CARE_DATES', () => {
  const parameters = new SearchParameterSet();
  const linked = patientCompartment().resource.filter(({ param = [] }) => param.length > 0);

  it('names date parameters of types of the Patient compartment', () => {
    const types = linked.map(({ code }) => code);
    for (const [type, { code, until = code }] of Object.entries(CARE_DATES)) {
      expect([type, types.includes(type)]).toEqual([type, true]);
      expect([type, code, parameters.find(type, code)?.kind]).toEqual([type, code, 'date']);
      expect([type, until, parameters.find(type, until)?.kind]).toEqual([type, until, 'date']);
    }
  });

  it('has no entry for timeless types, persons, and types without a date parameter', () => {
    const undated = linked.map(({ code }) => code).filter((type) => CARE_DATES[type] === undefined);
    expect(undated).toEqual([
      ...['AllergyIntolerance', 'AppointmentResponse', 'BodyStructure', 'Coverage', 'DeviceUseStatement'],
      ...['EnrollmentRequest', 'FamilyMemberHistory', 'Group', 'MolecularSequence', 'Patient', 'Person'],
      ...['RelatedPerson', 'SupplyDelivery', 'SDCDocument', 'SDCWorkflow'],
    ]);
  });
});
