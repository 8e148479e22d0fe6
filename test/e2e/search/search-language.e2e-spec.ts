import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, followPages, idsOf, idsOfMode, nextOf, searchOn } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const MR = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }], text: 'Record number' };

const concept = (code: string, display: string, system = LOINC): object => ({ coding: [{ system, code, display }] });
const reference = (target: string): object => ({ reference: target });
const quantity = (value: string, code: string, unit = code): string =>
  `{"value": ${value}, "unit": "${unit}", "system": "${UCUM}", "code": "${code}"}`;
const observation = (id: string, members: object, values = ''): string =>
  JSON.stringify({ resourceType: 'Observation', id, status: 'final', code: { text: 'none' }, ...members }).replace(
    /}$/,
    `${values === '' ? '' : `,${values}`}}`,
  );

/** A small ward. Some resources are texts, so that their digits stay as written. */
const WORLD: readonly (object | string)[] = [
  {
    resourceType: 'Patient',
    id: 'peter',
    identifier: [{ system: 'http://ward.example', value: '12345', type: MR }],
    name: [
      { family: 'Chalmers', given: ['Peter', 'James'] },
      { family: 'Windsor', use: 'maiden' },
    ],
    gender: 'male',
    birthDate: '1974-12-25',
    telecom: [{ system: 'phone', value: '555-1' }],
    address: [{ line: ['534 Erewhon St'], city: 'PleasantVille', postalCode: '3999' }],
    generalPractitioner: [reference('Practitioner/adam')],
    managingOrganization: reference('Organization/north'),
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Allergic to latex</div>' },
    meta: { tag: [{ system: 'http://tags.example', code: 'vip' }], profile: ['http://profiles.example/patient'] },
  },
  {
    resourceType: 'Patient',
    id: 'zoe',
    name: [{ family: 'Ærø-Müller', given: ['Zoë', 'Σισμάν', 'Γιώργος'] }],
    gender: 'female',
    birthDate: '1974',
    deceasedDateTime: '2020-03-01',
    managingOrganization: reference('Organization/south'),
    generalPractitioner: [{ identifier: { system: 'http://doctors.example', value: 'D1' } }],
  },
  { resourceType: 'Patient', id: 'anon', birthDate: '1980-06', identifier: [{ value: 'a|b' }] },
  { resourceType: 'Practitioner', id: 'adam', name: [{ family: 'Careful', given: ['Adam'] }] },
  { resourceType: 'Organization', id: 'north', name: 'North', partOf: reference('Organization/top') },
  { resourceType: 'Organization', id: 'south', name: 'South' },
  { resourceType: 'Organization', id: 'top', name: 'Topmost Trust' },
  {
    resourceType: 'Encounter',
    id: 'stay',
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP' },
    subject: reference('Patient/peter'),
    period: { start: '2019-12-30', end: '2020-01-10' },
  },
  {
    resourceType: 'Encounter',
    id: 'open',
    status: 'in-progress',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
    subject: reference('Patient/zoe'),
    period: { start: '2020-02-01T10:00:00Z' },
  },
  observation(
    'weight',
    {
      code: concept('29463-7', 'Body weight'),
      subject: reference('Patient/peter'),
      encounter: reference('Encounter/stay'),
      performer: [reference('Practitioner/adam')],
      effectiveDateTime: '2020-01-02',
    },
    `"valueQuantity": ${quantity('72.50', 'kg')}`,
  ),
  observation(
    'weight-g',
    {
      code: concept('29463-7', 'Body weight'),
      subject: reference('Patient/zoe'),
      effectiveDateTime: '2020-02-01T10:00:00Z',
    },
    `"valueQuantity": ${quantity('3400', 'g')}`,
  ),
  observation(
    'pressure',
    {
      status: 'amended',
      code: concept('85354-9', 'Blood pressure panel'),
      subject: reference('Patient/peter'),
      effectiveDateTime: '2020-01-03T08:00:00Z',
    },
    `"component": [
      {"code": ${JSON.stringify(concept('8480-6', 'Systolic'))}, "valueQuantity": ${quantity('120', 'mm[Hg]', 'mmHg')}},
      {"code": ${JSON.stringify(concept('8462-4', 'Diastolic'))}, "valueQuantity": ${quantity('80', 'mm[Hg]', 'mmHg')}}]`,
  ),
  observation('smoker', {
    code: concept('72166-2', 'Tobacco smoking status'),
    subject: reference('Patient/zoe'),
    effectivePeriod: { start: '2020-01', end: '2020-03' },
    valueCodeableConcept: concept('266919005', 'Never smoker', 'http://snomed.info/sct'),
  }),
  observation('texted', { code: { text: 'Mood' }, valueString: 'Élan vital', effectiveDateTime: '2021-05-05' }),
  {
    resourceType: 'RiskAssessment',
    id: 'risk',
    status: 'final',
    subject: reference('Patient/peter'),
    prediction: [{ outcome: { text: 'Stroke' }, probabilityDecimal: 0.12 }],
  },
  { resourceType: 'Group', id: 'ward', type: 'person', actual: true },
  { resourceType: 'Condition', id: 'shared', subject: reference('Group/ward') },
  { resourceType: 'Person', id: 'old', name: [{ family: 'Old', use: 'old' }] },
  // The year 1 is what some systems send for "unset".
  { resourceType: 'QuestionnaireResponse', id: 'unset', status: 'completed', authored: '0001-01-01' },
  { resourceType: 'QuestionnaireResponse', id: 'set', status: 'completed', authored: '2020-01-01' },
  {
    resourceType: 'Provenance',
    id: 'origin',
    target: [reference('Observation/weight')],
    recorded: '2020-01-02T12:00:00Z',
    agent: [{ who: reference('Practitioner/adam') }],
  },
  {
    resourceType: 'List',
    id: 'round',
    status: 'current',
    mode: 'working',
    entry: [{ item: reference('Patient/zoe') }, { item: reference('Observation/pressure') }],
  },
  {
    resourceType: 'ValueSet',
    id: 'vitals',
    url: 'http://sets.example/vitals',
    status: 'active',
    expansion: {
      timestamp: '2020-01-01T00:00:00Z',
      contains: [
        { system: LOINC, code: '29463-7' },
        { system: LOINC, abstract: true, display: 'Panels', contains: [{ system: LOINC, code: '85354-9' }] },
      ],
    },
  },
  { resourceType: 'ValueSet', id: 'deep', url: 'http://sets.example/a/b/c', status: 'draft', version: '1.10' },
  {
    resourceType: 'DocumentReference',
    id: 'old',
    status: 'superseded',
    content: [{ attachment: { url: 'http://files.example/1' } }],
  },
  {
    resourceType: 'DocumentReference',
    id: 'new',
    status: 'current',
    relatesTo: [{ code: 'replaces', target: reference('DocumentReference/old') }],
    content: [{ attachment: { url: 'http://files.example/2' } }],
  },
];

const PATIENTS = ['anon', 'peter', 'zoe'];
const OBSERVATIONS = ['pressure', 'smoker', 'texted', 'weight', 'weight-g'];

/** The expected matches of each query, derived by hand from {@link WORLD} and R4's page on search. */
const FINDS: readonly (readonly [query: string, ids: readonly string[]])[] = [
  // string
  ['Patient?name=chal', ['peter']],
  ['Patient?name=JAMES', ['peter']],
  ['Patient?name=windsor', ['peter']],
  ['Patient?family=mull', []],
  ['Patient?family=ærø-mull', ['zoe']],
  ['Patient?given=zoe', ['zoe']],
  ['Patient?given:exact=Zoë', ['zoe']],
  ['Patient?given:exact=zoe', []],
  ['Patient?given=ΣΙΣ', ['zoe']],
  ['Patient?given=σισ', ['zoe']],
  ['Patient?given=ΓΙΩΡΓΟΣ', ['zoe']],
  ['Patient?given:ends=γιωργοσ', ['zoe']],
  ['Patient?given:contains=ΙΣ', ['zoe']],
  ['Patient?given:exact=Γιώργος', ['zoe']],
  ['Patient?given:exact=Γιώργοσ', []],
  ['Patient?given:exact=Pete', []],
  ['Patient?family:contains=MULL', ['zoe']],
  ['Patient?name:contains=alm,uller', ['peter', 'zoe']],
  ['Patient?address=534', ['peter']],
  ['Patient?address-city:exact=PleasantVille', ['peter']],
  ['Patient?address-postalcode=3999', ['peter']],
  ['Patient?name:missing=true', ['anon']],
  ['Patient?name:missing=false', ['peter', 'zoe']],
  ['Observation?value-string=elan', ['texted']],
  // token
  ['Patient?gender=male', ['peter']],
  ['Patient?gender=male,female', ['peter', 'zoe']],
  ['Patient?gender:not=male', ['anon', 'zoe']],
  ['Patient?gender:missing=true', ['anon']],
  ['Patient?identifier=12345', ['peter']],
  ['Patient?identifier=http://ward.example|12345', ['peter']],
  ['Patient?identifier=http://other.example|12345', []],
  ['Patient?identifier=|12345', []],
  ['Patient?identifier=http://ward.example|', ['peter']],
  ['Patient?identifier=http://ward.example/|', []],
  ['Patient?identifier=a\\|b', ['anon']],
  ['Patient?_filter=identifier eq "a\\\\|b"', ['anon']],
  ['Patient?_filter=identifier ne "|a\\\\|b"', ['peter', 'zoe']],
  ['Patient?identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|12345', ['peter']],
  ['Patient?identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|99', []],
  ['Patient?identifier:text=record', ['peter']],
  ['Patient?phone=555-1', ['peter']],
  ['Patient?email=555-1', []],
  ['Patient?deceased=true', ['zoe']],
  ['Patient?deceased=false', ['anon', 'peter']],
  ['Observation?code:text=WEIGHT', ['weight', 'weight-g']],
  ['Observation?code:text=mood', ['texted']],
  [`Observation?code=${LOINC}|`, ['pressure', 'smoker', 'weight', 'weight-g']],
  ['Observation?code:in=http://sets.example/vitals', ['pressure', 'weight', 'weight-g']],
  ['Observation?code:in=ValueSet/vitals', ['pressure', 'weight', 'weight-g']],
  ['Observation?code:not-in=http://sets.example/vitals', ['smoker', 'texted']],
  ['Observation?status=final&code=29463-7', ['weight', 'weight-g']],
  // reference
  ['Observation?subject=Patient/peter', ['pressure', 'weight']],
  ['Observation?subject:Patient=zoe', ['smoker', 'weight-g']],
  ['Observation?subject:not=Patient/peter', ['smoker', 'texted', 'weight-g']],
  ['Observation?patient=peter&code=29463-7', ['weight']],
  ['Observation?patient=zoe&code=85354-9', []],
  ['Patient?general-practitioner:identifier=http://doctors.example|D1', ['zoe']],
  ['Patient?general-practitioner:identifier=D1', ['zoe']],
  ['Patient?general-practitioner:identifier=http://other.example|D1', []],
  // date
  ['Patient?birthdate=1974', ['peter', 'zoe']],
  ['Patient?birthdate=1974-12', ['peter']],
  ['Patient?birthdate=ne1974-12-25', ['anon', 'zoe']],
  ['Patient?birthdate=gt1974-12-25', ['anon', 'zoe']],
  ['Patient?birthdate=sa1974-12-25', ['anon']],
  ['Patient?birthdate=lt1974-12-25', ['zoe']],
  ['Patient?birthdate=eb1980', ['peter', 'zoe']],
  ['Patient?birthdate=le1974-12-25', ['peter', 'zoe']],
  ['Patient?birthdate=ge1980-06', ['anon']],
  ['Patient?birthdate=ge1974-12&birthdate=lt1975', ['peter']],
  ['Patient?birthdate=ge1974&birthdate=lt1975', ['peter', 'zoe']],
  ['Patient?birthdate=1980-06,1974-12-25', ['anon', 'peter']],
  ['Observation?date=2020-01-02', ['weight']],
  ['Observation?date=ge2020-01-02T02:00:00+02:00&date=lt2020-01-03T02:00:00+02:00', ['smoker', 'weight']],
  ['Observation?date=ge2020-01-03&date=lt2020-02', ['pressure', 'smoker']],
  ['Observation?date=2020', ['pressure', 'smoker', 'weight', 'weight-g']],
  ['Observation?date=gt2020-03-31', ['texted']],
  ['Observation?date=ap1900', []],
  ['Observation?date=ap2020-01-02&code=29463-7', ['weight', 'weight-g']],
  ['Encounter?date=2020-01-05', []],
  ['Encounter?date=ge2020-01-05', ['open', 'stay']],
  ['Encounter?date=le2019-12-31', ['stay']],
  ['Encounter?date=gt2030', ['open']],
  ['Encounter?date=eb2020-01-11', ['stay']],
  ['Encounter?date=sa2020-01-11', ['open']],
  // number and quantity
  ['RiskAssessment?probability=0.12', ['risk']],
  ['RiskAssessment?probability=0.1', ['risk']],
  ['RiskAssessment?probability=0.10', []],
  ['RiskAssessment?probability=gt0.1', ['risk']],
  ['RiskAssessment?probability=lt0.12', []],
  ['RiskAssessment?probability=le0.12', ['risk']],
  ['RiskAssessment?probability=ap0.125', ['risk']],
  ['RiskAssessment?probability=ne0.12', []],
  ['Observation?value-quantity=72.5', ['weight']],
  ['Observation?value-quantity=72', []],
  ['Observation?value-quantity=73', ['weight']],
  ['Observation?value-quantity=gt100', ['weight-g']],
  [`Observation?value-quantity=72.5|${UCUM}|kg`, ['weight']],
  ['Observation?value-quantity=72.5||kg', ['weight']],
  [`Observation?value-quantity=72500|${UCUM}|g`, ['weight']],
  [`Observation?value-quantity=3.4|${UCUM}|kg`, ['weight-g']],
  [`Observation?value-quantity=gt3|${UCUM}|kg`, ['weight', 'weight-g']],
  [`Observation?value-quantity=gt3|${UCUM}|m`, []],
  ['Observation?value-quantity=gt3||g', ['weight-g']],
  ['Observation?component-value-quantity=gt100||mmHg', ['pressure']],
  ['Observation?combo-value-quantity=gt75', ['pressure', 'weight-g']],
  ['Observation?code=29463-7&value-quantity=gt100', ['weight-g']],
  [`Observation?code=${LOINC}|29463-7&value-quantity=gt3|${UCUM}|kg`, ['weight', 'weight-g']],
  ['Observation?code=http://other.example|29463-7&value-quantity=gt3', []],
  ['Observation?code=29463-7&value-quantity=gt3&value-quantity=lt100', ['weight']],
  ['Observation?code=29463-7&value-quantity=gt100,lt100', ['weight', 'weight-g']],
  ['Observation?code=29463-7,8480-6&value-quantity=gt100', ['weight-g']],
  // The code is that of a component; the resource itself has no value.
  ['Observation?code=8480-6&value-quantity=gt1', []],
  ['Observation?value-quantity:missing=false', ['weight', 'weight-g']],
  // composite
  ['Observation?code-value-quantity=29463-7$gt100', ['weight-g']],
  [`Observation?code-value-quantity=${LOINC}|29463-7$gt3|${UCUM}|kg`, ['weight', 'weight-g']],
  [`Observation?code-value-quantity=http://other.example|29463-7$gt3`, []],
  ['Observation?component-code-value-quantity=8480-6$gt100', ['pressure']],
  ['Observation?component-code-value-quantity=8462-4$gt100', []],
  ['Observation?combo-code-value-quantity=8480-6$120,29463-7$3400', ['pressure', 'weight-g']],
  ['Observation?code-value-concept=72166-2$266919005', ['smoker']],
  ['Observation?code-value-concept=72166-2$http://snomed.info/sct|266919005', ['smoker']],
  ['Observation?code-value-concept=72166-2$http://loinc.org|266919005', []],
  ['DocumentReference?relationship=DocumentReference/old$replaces', ['new']],
  ['DocumentReference?relationship=DocumentReference/old$appends', []],
  [
    'DocumentReference?relationship=DocumentReference/old$http://hl7.org/fhir/document-relationship-type|replaces',
    ['new'],
  ],
  ['DocumentReference?relationship=DocumentReference/old$http://a.example|replaces', []],
  // uri
  ['ValueSet?url=http://sets.example/vitals', ['vitals']],
  ['ValueSet?url:below=http://sets.example', ['deep', 'vitals']],
  ['ValueSet?url:below=http://sets.example/a', ['deep']],
  ['ValueSet?url:below=http://sets.exam', []],
  ['ValueSet?url:above=http://sets.example/a/b/c/d', ['deep']],
  ['ValueSet?url:above=http://sets.example/a/b', []],
  // of all types
  ['Patient?_id=peter,zoe,nobody', ['peter', 'zoe']],
  ['Patient?_tag=http://tags.example|vip', ['peter']],
  ['Patient?_tag:not=vip', ['anon', 'zoe']],
  ['Patient?_profile=http://profiles.example/patient', ['peter']],
  ['Patient?_text=latex', ['peter']],
  ['Patient?_text=latex allergic', ['peter']],
  ['Patient?_text=latex peanuts', []],
  ['Patient?_content=erewhon', ['peter']],
  ['Patient?_content=PETER,zoë', ['peter', 'zoe']],
  ['Patient?_content=gender', []],
  ['Patient?_list=round', ['zoe']],
  ['Observation?_list=round', ['pressure']],
  ['Patient?_lastUpdated=gt2020', PATIENTS],
  ['Patient?_lastUpdated=lt2020', []],
  // chains
  ['Observation?subject:Patient.name=peter', ['pressure', 'weight']],
  ['Observation?patient.gender=female', ['smoker', 'weight-g']],
  ['Observation?patient.birthdate=lt1974-12-25', ['smoker', 'weight-g']],
  ['Observation?subject.gender=male,female&code=29463-7', ['weight', 'weight-g']],
  ['Observation?patient.organization.name=north', ['pressure', 'weight']],
  ['Observation?patient.organization.partof.name=topmost', ['pressure', 'weight']],
  ['Observation?patient.organization.partof.partof.name=x', []],
  ['Observation?focus.subject.organization.name=north', []],
  ['Provenance?target:Observation.subject.organization.name=north', ['origin']],
  ['Observation?patient._id=zoe', ['smoker', 'weight-g']],
  ['Observation?patient.identifier=http://ward.example|12345', ['pressure', 'weight']],
  ['Observation?encounter.class=IMP', ['weight']],
  ['Observation?performer:Practitioner.family=careful', ['weight']],
  // reverse chains
  ['Patient?_has:Observation:patient:code=29463-7', ['peter', 'zoe']],
  ['Patient?_has:Observation:patient:code=85354-9', ['peter']],
  ['Patient?_has:Observation:patient:value-quantity=gt100', ['zoe']],
  ['Patient?_has:Observation:subject:performer.family=careful', ['peter']],
  ['Patient?_has:Observation:subject:_has:Provenance:target:agent=Practitioner/adam', ['peter']],
  ['Practitioner?_has:Patient:general-practitioner:gender=male', ['adam']],
  ['Organization?_has:Patient:organization:_has:Observation:patient:code=266919005', []],
  ['Organization?_has:Patient:organization:_has:Observation:patient:value-concept=266919005', ['south']],
  ['Patient?gender=male&_has:Encounter:patient:class=IMP', ['peter']],
  // the earliest date, which is also the beginning of periods without one
  ['QuestionnaireResponse?authored=0001-01-01', ['unset']],
  ['QuestionnaireResponse?authored=lt2000', ['unset']],
  ['QuestionnaireResponse?authored=le0001', ['unset']],
  ['QuestionnaireResponse?authored=eb1000', ['unset']],
  ['QuestionnaireResponse?authored=ne2020', ['unset']],
  ['QuestionnaireResponse?authored=gt0001', ['set']],
  ['QuestionnaireResponse?authored=ge0001', ['set', 'unset']],
  ['QuestionnaireResponse?authored=lt2021&status=completed', ['set', 'unset']],
  ['QuestionnaireResponse?authored=lt2021&_sort=authored', ['set', 'unset']],
  // Condition.patient is the subject, if that is a Patient.
  ['Condition?subject=Group/ward', ['shared']],
  ['Condition?patient=ward', []],
  ['Group?_has:Condition:subject:_id=shared', ['ward']],
  ['Group?_has:Condition:patient:_id=shared', []],
  ['Group?_has:Condition:patient:_id=shared&type=person', []],
  // _filter
  ['Patient?name:exact=Windsor', ['peter']],
  ['Patient?name:exact=James', ['peter']],
  ['Person?name:exact=Old', ['old']],
  ['Person?name:exact=old', []],
  ['Patient?_filter=gender eq male', ['peter']],
  ['Patient?_filter=gender eq male or birthdate ge 1980', ['anon', 'peter']],
  ['Patient?_filter=not (gender eq male) and birthdate lt 1980', ['zoe']],
  // `and` and `or` have the same precedence: a filter is read from left to right.
  ['Patient?_filter=gender eq male or birthdate ge 1980 and birthdate ge 1980', ['anon']],
  ['Patient?_filter=gender eq male or (birthdate ge 1980 and birthdate ge 1980)', ['anon', 'peter']],
  ['Patient?_filter=birthdate ge 1980 and gender eq male or gender eq female', ['zoe']],
  ['Patient?_filter=birthdate ge 1980 or birthdate lt 1980 and gender eq male or _id eq zoe', ['peter', 'zoe']],
  // words for systems
  ['Observation?_filter=code eq loinc|29463-7 and value-quantity gt 100|ucum|kg', []],
  ['Observation?_filter=code eq loinc|29463-7 and value-quantity gt 70|ucum|kg', ['weight']],
  ['Observation?_filter=value-concept eq snomed|266919005', ['smoker']],
  ['Observation?_filter=value-concept eq loinc|266919005', []],
  ['Patient?_filter=family co "uller"', ['zoe']],
  ['Patient?_filter=family sw chal and given eq "Peter"', ['peter']],
  ['Patient?_filter=family ew "MERS"', ['peter']],
  ['Patient?_filter=family ew muller', ['zoe']],
  // A name has the use "maiden", which is no part of its text.
  ['Patient?_filter=name ew den', []],
  ['Patient?_filter=name pr false', ['anon']],
  ['Patient?_filter=_id eq peter or _id eq zoe', ['peter', 'zoe']],
  ['Patient?_filter=_id ne peter and _lastUpdated gt 2020', ['anon', 'zoe']],
  ['Patient?_has:Observation:patient:code=29463-7&_filter=_id eq zoe', ['zoe']],
  ['Observation?_filter=subject.gender eq female and value-quantity gt 100', ['weight-g']],
  // An operator means the same behind a chain: `eq` compares whole texts.
  ['Observation?_filter=subject.family eq Chal', []],
  ['Observation?_filter=subject.family eq Chalmers and status eq final', ['weight']],
  ['Observation?_filter=subject.family ne Chal and subject.gender eq male', ['pressure', 'weight']],
  ['Observation?_filter=subject.family sw chal', ['pressure', 'weight']],
  ['Observation?_filter=subject.family ew mers', ['pressure', 'weight']],
  ['Observation?_filter=subject.birthdate lt 1974-12-25T00:00:00Z', ['smoker', 'weight-g']],
  ['Observation?_filter=subject.name pr true and subject._id ne peter', ['smoker', 'weight-g']],
  ['Observation?_filter=subject._lastUpdated gt 2020 and code eq 85354-9', ['pressure']],
  ['Observation?_filter=code in http://sets.example/vitals', ['pressure', 'weight', 'weight-g']],
  // in a compartment
  ['Patient/peter/Observation', ['pressure', 'weight']],
  ['Patient/peter/Observation?code=29463-7', ['weight']],
  ['Patient/zoe/Encounter?date=ge2020', ['open']],
  ['Patient/peter/Provenance', []],
  ['Patient/nobody/Observation', []],
  ['Patient/peter/Practitioner', []],
  // together
  ['Patient', PATIENTS],
  ['Patient?name=', PATIENTS],
  ['Observation?patient=peter&date=ge2020-01-03&status=amended', ['pressure']],
];

/** Refused queries, each with a part of the error. */
const REFUSED: readonly (readonly [query: string, named: string])[] = [
  ['Patient?birthdate=yesterday', 'birthdate'],
  ['Patient?birthdate:contains=1974', 'birthdate:contains'],
  ['RiskAssessment?probability=high', 'probability'],
  ['RiskAssessment?probability=1e999', 'probability'],
  ['Observation?value-quantity=5|http://unitsofmeasure.org|', 'value-quantity'],
  ['Observation?value-quantity=5|a|b|c', 'value-quantity'],
  ['Observation?code-value-quantity=29463-7', 'code-value-quantity'],
  ['Observation?code-value-quantity=29463-7$', 'code-value-quantity'],
  ['Observation?code=a|b|c', 'code'],
  ['Observation?code:in=http://sets.example/nowhere', 'http://sets.example/nowhere'],
  ['ValueSet?url:contains=x', 'url:contains'],
  ['Patient?name:text=x', 'name:text'],
  [`Patient?name=${'x'.repeat(300)}`, 'name'],
  ['Patient?name:missing=perhaps', 'name:missing'],
  ['Patient?_id:not=peter', '_id:not'],
  [`Patient?_id=${Array.from({ length: 1_001 }, (_value, index) => `p${index}`).join(',')}`, '_id'],
  ['Patient?name.family=x', 'name'],
  ['Observation?subject.colour=x', 'subject'],
  ['Observation?subject:Spaceship.name=x', 'Spaceship'],
  [`Organization?${'partof.'.repeat(10)}name=x`, 'chain of more than'],
  [`List?${'item.'.repeat(8)}code=x`, 'too many paths'],
  ['Patient?_has:Observation:patient=x', '_has:Observation:patient'],
  ['Patient?_has:Spaceship:patient:code=x', 'Spaceship'],
  ['Patient?_has:Observation:code:code=x', 'Observation.code'],
  ['Patient?_has:Observation:nobody:code=x', 'nobody'],
  ['Patient?_sort=colour', 'colour'],
  ['Observation?_sort=code-value-quantity', 'code-value-quantity'],
  ['Patient?_sort=a,b,c,d,e,f', '_sort'],
  ['Patient?_include=Patient', '_include'],
  ['Patient?_include=Patient:gender', 'Patient.gender'],
  ['Patient?_include=Spaceship:crew', 'Spaceship'],
  ['Patient?_include:often=Patient:organization', ':iterate'],
  ['Patient?_revinclude=*', '_revinclude'],
  ['Condition?patient=Group/ward', 'takes an id of a Patient'],
  ['Condition?patient:Group=ward', 'leads to Patient only'],
  ['Condition?patient:Group.type=person', 'leads to Patient only'],
  ['Patient?_filter=gender eq', '_filter'],
  ['Patient?_filter=(gender eq male', '_filter'],
  ['Patient?_filter=gender xx male', 'xx'],
  ['Patient?_filter=colour eq red', 'colour'],
  ['Patient?_filter=_id co pet', 'co'],
  ['Patient?_filter=name pr perhaps', 'pr true'],
  ['Observation?_filter=subject.family gt 5', 'gt'],
  ['Observation?_filter=subject.identifier sw 5', 'sw'],
  ['Patient?_total=perhaps', '_total'],
  ['Patient?_count=-1', '_count'],
  ['Patient?_explain=perhaps', '_explain'],
  ['Patient?_after=AAAA', '_after'],
  ['Patient?_after=WzEsImFiYyJd', 'page link'],
  ['Patient?_after=WzEsMSwxXQ', '_after'],
  ['Patient?_after=WzEsMV0&_before=WzEsMV0', '_before'],
  ['Location?near=1', 'near'],
  ['Patient?_contained=true', '_contained'],
  ['Patient?_contained=both', '_contained'],
  ['Patient?_contained=maybe', '_contained'],
  ['Patient?_containedType=box', '_containedType'],
  ['Patient?_query=everybody', '_query'],
  ['Observation?subject:Spaceship=peter', 'Spaceship'],
  ['Observation?subject:Practitioner=adam', 'leads to'],
  ['Observation?subject:Patient=Group/peter', 'subject:Patient'],
  ['QuestionnaireResponse?questionnaire.title=x', '_include'],
  ['Questionnaire?_has:QuestionnaireResponse:questionnaire:status=completed', '_include'],
];

describe('search syntax', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    for (const resource of WORLD) {
      const text = typeof resource === 'string' ? resource : JSON.stringify(resource);
      const { resourceType, id } = JSON.parse(text) as { resourceType: string; id: string };
      const answer = await app.put(`/fhir/${resourceType}/${id}`, text);
      expect([text, answer.status, answer.text.slice(0, 500)]).toEqual([text, 201, expect.any(String)]);
    }
  }, 60_000);
  afterAll(() => app.close());

  const encoded = (query: string): string => query.replace(/[|$^ "<>#ëéÉæø]/g, encodeURIComponent);
  const search = (query: string): Promise<Bundle> => searchOn(app, `/fhir/${encoded(query)}`);

  it.each(FINDS)('%s finds %j', async (query, ids) => {
    const found = await search(query);
    expect(idsOf(found).sort()).toEqual([...ids].sort());
    expect(found.total).toBe(ids.length);
  });

  it.each(FINDS)('%s finds the same page by page, and counts the same', async (query, ids) => {
    const separator = query.includes('?') ? '&' : '?';
    const pages = await followPages(app, `/fhir/${encoded(query)}${separator}_count=1`);
    expect(pages.flatMap((page) => idsOf(page)).sort()).toEqual([...ids].sort());
    expect((await search(`${query}${separator}_count=0`)).total).toBe(ids.length);
  });

  it.each(REFUSED.map(([query, named]) => [query.slice(0, 100), query, named] as const))(
    '%s is refused with 400',
    async (_title, query, named) => {
      const answer = await app.get(`/fhir/${encoded(query)}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(named.slice(0, 60))]);
    },
  );

  describe('_sort', () => {
    it.each([
      ['Patient?_sort=family', ['zoe', 'peter', 'anon'].sort((a, b) => Number(a === 'anon') - Number(b === 'anon'))],
      ['Patient?_sort=birthdate,_id', ['zoe', 'peter', 'anon']],
      ['Patient?_sort=-birthdate', ['anon', 'peter', 'zoe']],
      ['Patient?_sort=gender', ['zoe', 'peter', 'anon']],
      ['Patient?_sort=-gender', ['peter', 'zoe', 'anon']],
      ['Patient?_sort=_id', ['anon', 'peter', 'zoe']],
      ['Patient?_sort=-_id', ['zoe', 'peter', 'anon']],
      ['Patient?_sort=_lastUpdated', ['peter', 'zoe', 'anon']],
      ['Patient?_sort=-_lastUpdated', ['anon', 'zoe', 'peter']],
      ['Observation?_sort=date', ['smoker', 'weight', 'pressure', 'weight-g', 'texted']],
      ['Observation?_sort=-date', ['texted', 'weight-g', 'pressure', 'weight', 'smoker']],
      ['Observation?_sort=status,-date', ['pressure', 'texted', 'weight-g', 'weight', 'smoker']],
      ['Observation?_sort=value-quantity,_id', ['weight', 'weight-g', 'pressure', 'smoker', 'texted']],
      ['Observation?_sort=-value-quantity,-_id', ['weight-g', 'weight', 'texted', 'smoker', 'pressure']],
      ['Observation?_sort=code,_id', ['weight', 'weight-g', 'smoker', 'pressure', 'texted']],
      ['Observation?patient=peter&_sort=-date', ['pressure', 'weight']],
      ['Observation?code=29463-7&_sort=-_lastUpdated', ['weight-g', 'weight']],
    ])('%s returns %j, forward and backward', async (query, ids) => {
      expect(idsOf(await search(query))).toEqual(query === 'Patient?_sort=family' ? ['peter', 'zoe', 'anon'] : ids);
      const expected = query === 'Patient?_sort=family' ? ['peter', 'zoe', 'anon'] : ids;
      const pages = await followPages(app, `/fhir/${query}&_count=1`);
      expect(pages.flatMap((page) => idsOf(page))).toEqual(expected);
      const back: string[] = [];
      for (let page = pages.at(-1); page !== undefined;) {
        back.unshift(...idsOf(page));
        const previous = page.link.find(({ relation }) => relation === 'previous')?.url;
        page = previous === undefined ? undefined : (await app.get(previous)).json<Bundle>();
      }
      expect(back).toEqual(expected);
    });
  });

  describe('_include and _revinclude', () => {
    const included = async (query: string): Promise<string[]> => idsOfMode('include', await search(query)).sort();

    it.each([
      ['Observation?_id=weight&_include=Observation:subject', ['peter']],
      ['Observation?_id=weight&_include=Observation:patient', ['peter']],
      ['Observation?_id=weight&_include=Observation:subject:Patient', ['peter']],
      ['Observation?_id=weight&_include=Observation:subject:Group', []],
      ['Observation?_id=weight&_include=Observation:*', ['adam', 'peter', 'stay']],
      ['Observation?_id=weight&_include=*', ['adam', 'peter', 'stay']],
      ['Observation?patient=peter&_include=Observation:subject', ['peter']],
      ['Observation?_id=weight&_include=Observation:subject&_include=Observation:performer', ['adam', 'peter']],
      ['Observation?_id=weight&_include=Observation:subject&_include=Patient:organization', ['peter']],
      [
        'Observation?_id=weight&_include=Observation:subject&_include:iterate=Patient:organization&_include:iterate=Organization:partof',
        ['north', 'peter', 'top'],
      ],
      ['Patient?_id=peter&_revinclude=Observation:subject', ['pressure', 'weight']],
      [
        'Patient?_id=peter&_revinclude=Observation:patient&_revinclude:iterate=Provenance:target',
        ['origin', 'pressure', 'weight'],
      ],
      ['Patient?_id=anon&_revinclude=Observation:subject', []],
      ['Group?_id=ward&_revinclude=Condition:subject', ['shared']],
      ['Group?_id=ward&_revinclude=Condition:subject:Group', ['shared']],
      ['Group?_id=ward&_revinclude=Condition:subject:Patient', []],
      ['Group?_id=ward&_revinclude=Condition:patient', []],
      ['Condition?_id=shared&_include=Condition:subject', ['ward']],
      ['Condition?_id=shared&_include=Condition:patient', []],
      ['Condition?_id=shared&_include=Condition:patient:Group', []],
      ['Patient?_id=nobody&_include=Patient:organization', []],
    ])('%s includes %j', async (query, ids) => {
      expect(await included(query)).toEqual(ids);
    });

    it('does not count included resources, and stays in the links', async () => {
      const page = await search('Observation?_count=1&_include=Observation:subject');
      expect(page.total).toBe(OBSERVATIONS.length);
      expect(nextOf(page)).toContain('_include=Observation%3Asubject');
    });
  });

  it.each([
    ['Patient?_id=peter&_elements=birthDate', ['resourceType', 'id', 'meta', 'birthDate']],
    ['Patient?_id=peter&_summary=text', ['resourceType', 'id', 'meta', 'text']],
  ])('%s returns the requested part', async (query, members) => {
    const { entry } = await search(query);
    expect(Object.keys(entry[0]?.resource ?? {}).sort()).toEqual([...members].sort());
    expect(JSON.stringify(entry[0]?.resource)).toContain('SUBSETTED');
  });

  it('returns only the total with _summary=count', async () => {
    expect(await search('Patient?_summary=count')).toMatchObject({ total: 3 });
  });

  it('pages back correctly while resources are added and removed', async () => {
    const [first, second] = await followPages(app, '/fhir/Observation?_count=2&_sort=-date');
    await app.put('/fhir/Observation/newest', observation('newest', { effectiveDateTime: '2022-01-01' }));
    const previous = second?.link.find(({ relation }) => relation === 'previous')?.url ?? '';
    expect(idsOf((await app.get(previous)).json<Bundle>())).toEqual(idsOf(first ?? { entry: [] }));
    await app.delete('/fhir/Observation/newest');
  });

  it('returns only the plan, or the plan as JSON, for values of _explain', async () => {
    const planOf = async (words: string): Promise<unknown> =>
      ((await search(`Observation?code=29463-7&_explain=${words}`)) as Bundle & { plan: unknown }).plan;
    expect(await planOf('plan')).toEqual(expect.not.stringContaining('actual'));
    expect(await planOf('plan,no-costs')).toEqual(expect.not.stringContaining('cost='));
    expect(JSON.stringify(await planOf('format-json'))).toContain('Actual Rows');
  });

  it('names the parameters whose numbers are in the plan, for each type of a chain', async () => {
    const query = 'subject:Patient.family=Smith&date=gt2020&_sort=-value-quantity&_explain=format-json';
    const { plan, parameters } = (await search(`Observation?${query}`)) as Bundle & {
      plan: unknown;
      parameters: { id: number; name: string }[];
    };
    expect(parameters.map(({ name }) => name).sort()).toEqual([
      'Observation.date',
      'Observation.subject',
      'Observation.value-quantity',
      'Patient.family',
    ]);
    const family = parameters.find(({ name }) => name === 'Patient.family')?.id;
    expect(JSON.stringify(plan)).toContain(`{${family ?? 'none'}}`);
    expect(await search('Observation?_explain=1')).not.toHaveProperty('parameters');
  });

  it('returns with _explain=1 the statement, its values and the plan with the normal response', async () => {
    const bundle = (await search('Observation?code=29463-7&_explain=1')) as Bundle & { query: unknown[]; plan: string };
    expect(idsOf(bundle).sort()).toEqual(['weight', 'weight-g']);
    expect(bundle.query[0]).toContain('from search_token');
    expect(bundle.plan).toMatch(/actual time/);
  });

  it('finds only current values of each kind after an update', async () => {
    const put = (name: string, value: number, unit: string): Promise<unknown> =>
      app.put('/fhir/Observation/moving', {
        resourceType: 'Observation',
        id: 'moving',
        status: 'final',
        code: concept('m1', name),
        valueQuantity: { value, system: UCUM, code: unit },
        note: [{ text: name }],
      });
    await put('First', 1, 'm');
    await put('Second', 2, 'cm');
    const found = async (query: string): Promise<string[]> => idsOf(await search(query));
    expect(await found('Observation?value-quantity=1')).toEqual([]);
    expect(await found('Observation?code-value-quantity=m1$1')).toEqual([]);
    expect(await found(`Observation?value-quantity=20|${UCUM}|mm`)).toEqual(['moving']);
    expect(await found('Observation?code-value-quantity=m1$2')).toEqual(['moving']);
    await app.delete('/fhir/Observation/moving');
    expect(await found('Observation?value-quantity=2')).toEqual([]);
  });

  it('S21: accepts thirty lists of a thousand values, each as one statement parameter', async () => {
    const days = Array.from({ length: 1_000 }, (_value, index) => `ge${1000 + index}`).join(',');
    const form = Array.from({ length: 30 }, () => `birthdate=${days}`).join('&');
    const answer = await app.post('/fhir/Patient/_search', form, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const { total, entry } = answer.json<{ total: number; entry: { resource: { id: string } }[] }>();
    expect([answer.status, total]).toEqual([200, 3]);
    expect(entry.map(({ resource }) => resource.id).sort()).toEqual(['anon', 'peter', 'zoe']);
  });

  it('treats wildcards, quotes and SQL in values as text', async () => {
    for (const value of [`' or 1=1 --`, '%', '_', '\\', '.*', '") && true', '$.*', '\u{1F600}']) {
      for (const query of [
        'name',
        'name:contains',
        'name:exact',
        '_content',
        '_text',
        'identifier:text',
        'identifier',
      ]) {
        const answer = await app.get(`/fhir/Patient?${query}=${encodeURIComponent(value)}`);
        expect([query, value, answer.status, answer.json<Bundle>().total]).toEqual([query, value, 200, 0]);
      }
    }
  });
});
