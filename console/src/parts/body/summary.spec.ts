import { describe, expect, it } from '@jest/globals';
import { treeOf } from './body';
import { referencesOf, resourceNameOf } from './references';
import { MAX_SUMMARY_ROWS, summaryOf } from './summary';

const summary = async (body: object | string): Promise<unknown[]> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return summaryOf(await treeOf(text)).map(({ label, text: shown, note, depth }) => [
    '  '.repeat(depth) + label,
    shown,
    ...(note === undefined ? [] : [note]),
  ]);
};

describe('the summary of a resource', () => {
  it('shows each FHIR data type in one line', async () => {
    expect(
      await summary(
        `{"resourceType":"Observation","id":"o1","status":"final",
      "identifier":[{"system":"urn:mrn","value":"123"}],
      "code":{"coding":[{"system":"http://loinc.org","code":"8310-5","display":"Body temperature"}]},
      "subject":{"reference":"Patient/p7","display":"Ana Rivera"},
      "effectivePeriod":{"start":"2026-01-05","end":"2026-01-06"},
      "valueQuantity":{"comparator":"<","value":37.20,"unit":"°C","system":"http://unitsofmeasure.org","code":"Cel"},
      "referenceRange":[{"low":{"value":36.0,"unit":"°C"},"high":{"value":37.5,"unit":"°C"}}]}`.replaceAll(
          /\n\s*/g,
          '',
        ),
      ),
    ).toEqual([
      ['Status', 'final'],
      ['Identifier', '123', 'urn:mrn'],
      ['Code', 'Body temperature', 'http://loinc.org|8310-5'],
      ['Subject', 'Ana Rivera', 'Patient/p7'],
      ['Effective', '2026-01-05 to 2026-01-06'],
      ['Value', '< 37.20 °C', 'http://unitsofmeasure.org|Cel'],
      ['Reference range', '36.0 °C to 37.5 °C'],
    ]);
  });

  it('shows names, addresses and extensions', async () => {
    expect(
      await summary({
        resourceType: 'Patient',
        name: [{ use: 'official', family: 'Rivera', given: ['Ana', 'Maria'], prefix: ['Dr.'] }],
        telecom: [{ system: 'phone', value: '+1 555 0100', use: 'home' }],
        birthDate: '1980-02-03',
        _birthDate: { extension: [{ url: 'http://x/birthTime', valueDateTime: '1980-02-03T10:00:00Z' }] },
        address: [{ line: ['1 Main St'], city: 'Springfield', postalCode: '01101' }],
        deceasedBoolean: false,
        extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName', valueString: 'Soto' }],
      }),
    ).toEqual([
      ['Name', 'Dr. Ana Maria Rivera', 'official'],
      ['Telecom', '+1 555 0100', 'phone, home'],
      ['Birth date', '1980-02-03'],
      ['Address', '1 Main St, 01101 Springfield'],
      ['Deceased', 'no'],
      ['Patient mothers maiden name', 'Soto'],
    ]);
  });

  it('nests structures that are no data type, and numbers them if there are several', async () => {
    expect(
      await summary({
        resourceType: 'Observation',
        component: [
          { code: { text: 'Systolic' }, valueQuantity: { value: 118, unit: 'mm[Hg]' } },
          { code: { text: 'Diastolic' }, valueQuantity: { value: 76, unit: 'mm[Hg]' } },
        ],
      }),
    ).toEqual([
      ['Component 1', undefined],
      ['  Code', 'Systolic'],
      ['  Value', '118 mm[Hg]'],
      ['Component 2', undefined],
      ['  Code', 'Diastolic'],
      ['  Value', '76 mm[Hg]'],
    ]);
  });

  it('shows resources of unknown types, and limits the number of rows', async () => {
    expect(await summary({ resourceType: 'Ward', beds: 12, nurse: { resourceType: 'User', id: 'n1' } })).toEqual([
      ['Beds', '12'],
      ['Nurse', 'User/n1'],
    ]);
    const many = {
      resourceType: 'Ward',
      rooms: Array.from({ length: 5000 }, (_, number) => ({ number, x: { y: 1 } })),
    };
    expect((await summary(many)).length).toBeLessThanOrEqual(MAX_SUMMARY_ROWS + 5);
  });
});

describe('references', () => {
  it('are listed with their paths, in the order of the body', async () => {
    const body = {
      resourceType: 'Encounter',
      contained: [{ resourceType: 'Location', id: 'l1', status: 'active' }],
      subject: { reference: 'Patient/p7', display: 'Ana' },
      participant: [{ individual: { reference: 'Practitioner/d1/_history/2' } }],
      location: [{ location: { reference: '#l1' } }],
      author: { resourceType: 'User', id: 'u1' },
      partOf: { reference: 'https://other.example/Encounter/9' },
    };
    expect(
      referencesOf(await treeOf(JSON.stringify(body))).map(({ path, reference, target }) => [
        path,
        reference,
        target?.id,
      ]),
    ).toEqual([
      ['subject', 'Patient/p7', 'p7'],
      ['participant.0.individual', 'Practitioner/d1/_history/2', 'd1'],
      ['location.0.location', '#l1', undefined],
      ['author', 'User/u1', 'u1'],
      ['partOf', 'https://other.example/Encounter/9', undefined],
    ]);
  });

  it.each(['javascript:alert(1)', 'Patient/../x', 'patient/p7', 'Patient/', '#p7', 'Patient/p7/x'])(
    'do not include %s',
    (text) => {
      expect(resourceNameOf(text)).toBeUndefined();
    },
  );
});
