import { describe, expect, it } from '@jest/globals';
import { useDestinationApp } from '../../support/destination-app';
import { newName } from '../../support/destinations';

const used = useDestinationApp();
const { newTopic, newDestination, write, delivered } = used;

describe('SvcSubscriptionTopic', () => {
  const filter = (more: object = {}): object => ({
    filterParameter: 'gender',
    comparator: ['eq'],
    filterDefinitionFhirPathExpression: 'Patient.gender',
    ...more,
  });

  it('stores canFilterBy', async () => {
    const trigger = [{ resource: 'Patient', canFilterBy: [filter()] }];
    const body = { resourceType: 'SvcSubscriptionTopic', url: 'http://t.example/filter', status: 'active', trigger };
    const stored = await used.app.post('/fhir/SvcSubscriptionTopic', body);
    expect([stored.status, stored.json()]).toMatchObject([201, { trigger }]);
  });

  it.each<[string, object, string]>([
    ['no url', { url: undefined }, 'url must be'],
    ['an unknown status', { status: 'on' }, 'status must be'],
    ['a trigger that is not an object', { trigger: ['Patient'] }, 'trigger[0] must be'],
    ['a trigger without resource', { trigger: [{}] }, 'trigger[0].resource'],
    ['a trigger of an unknown type', { trigger: [{ resource: 'Unicorn' }] }, 'Unicorn'],
    [
      'an unknown interaction',
      { trigger: [{ resource: 'Patient', supportedInteraction: ['read'] }] },
      'supportedInteraction',
    ],
    [
      'a filter with an unsupported comparator',
      { trigger: [{ resource: 'Patient', canFilterBy: [filter({ comparator: ['eq', 'gt'] })] }] },
      'canFilterBy[0].comparator must hold eq',
    ],
    [
      'a filter of an unknown element',
      { trigger: [{ resource: 'Patient', canFilterBy: [filter({ filterDefinitionFhirPathExpression: 'gendr' })] }] },
      'canFilterBy[0].filterDefinitionFhirPathExpression is no FHIRPath',
    ],
    [
      'a criterion that does not compile',
      { trigger: [{ resource: 'Patient', fhirPathCriteria: 'name.where(' }] },
      'fhirPathCriteria',
    ],
  ])('is refused with 422 for %s', async (_what, members, message) => {
    const body = {
      resourceType: 'SvcSubscriptionTopic',
      url: 'http://t.example',
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    };
    const answer = await used.app.post('/fhir/SvcSubscriptionTopic', { ...body, ...members });
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 422,
      text: expect.stringContaining(message),
    });
  });

  it('fires for the interactions that it names', async () => {
    const topic = await newTopic({
      resource: 'http://hl7.org/fhir/StructureDefinition/Patient',
      supportedInteraction: ['update'],
    });
    const destinationId = await newDestination(topic);
    const id = newName();
    await write(id);
    await write(id, { active: true });
    await used.app.delete(`/fhir/Patient/${id}`);
    await delivered(destinationId, 1);
    expect(used.receiver.bodies[0]?.entry[1]).toMatchObject({ request: { method: 'PUT' }, resource: { active: true } });
  });

  it('fires when its criterion is true for the versions before and after', async () => {
    const criteria = "%previous.gender = 'male' and %current.gender = 'female'";
    const destinationId = await newDestination(await newTopic({ resource: 'Patient', fhirPathCriteria: criteria }));
    const [a, b] = [newName(), newName()];
    await write(a, { gender: 'male' });
    await write(a, { gender: 'female' });
    await write(b, { gender: 'female' });
    await write(b, { gender: 'male' });
    await delivered(destinationId, 1);
    expect(used.receiver.references).toEqual([`Patient/${a}`]);
  });

  it('fires if its criterion cannot be evaluated', async () => {
    const destinationId = await newDestination(
      await newTopic({ resource: 'Patient', fhirPathCriteria: 'name.single().exists()' }),
    );
    await write(newName(), { name: [{ family: 'a' }, { family: 'b' }] });
    await delivered(destinationId, 1);
  });

  it('does not fire as a draft, and fires as soon as it is active', async () => {
    const id = newName();
    const topic = {
      resourceType: 'SvcSubscriptionTopic',
      id,
      url: `http://topics.example/${id}`,
      trigger: [{ resource: 'Patient' }],
    };
    await used.app.put(`/fhir/SvcSubscriptionTopic/${id}`, { ...topic, status: 'draft' });
    const destinationId = await newDestination(topic.url);
    await write(newName());
    await used.app.put(`/fhir/SvcSubscriptionTopic/${id}`, { ...topic, status: 'active' });
    const patient = newName();
    await write(patient);
    await delivered(destinationId, 1);
    expect(used.receiver.references).toEqual([`Patient/${patient}`]);
  });

  it('may be created after its destination', async () => {
    const url = `http://topics.example/${newName()}`;
    const destinationId = await newDestination(url);
    await newTopic(undefined, { url });
    await write(newName());
    await delivered(destinationId, 1);
  });
});
