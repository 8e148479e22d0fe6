import { type TestApp } from '../../testing/test-app';

const user = { resourceType: 'User', id: 'doc-1', display: 'Dr. Ada Okafor' };

/** Calls a method of addenda or documents, and fails if the call is refused. */
export async function call(app: TestApp, method: string, params: object | string): Promise<void> {
  const text = typeof params === 'string' ? params : JSON.stringify(params);
  const answer = await app.post('/rpc', `{"method":"svc.sdc${method}","params":${text}}`);
  if (answer.status !== 200) throw new Error(answer.text);
}

const contentOf = (temperature: string, systolic: string, more: string): string =>
  `"type":"clinic.forms/VitalsDocument","patient":{"resourceType":"Patient","id":"p7","display":"Ana Rivera"},
  "8310-5":{"text":"Body temperature","value":${temperature},"unit":"Cel"},
  "8480-6":{"text":"Systolic blood pressure","value":${systolic},"unit":"mm[Hg]"},
  "smoking-status":{"code":"266919005","system":"http://snomed.info/sct","text":"Never smoked"},${more}`;

/** Stores a document with comments, a note, an amendment with many kinds of changes, and an addendum of an own type. */
export async function storeAmendedRecord(app: TestApp, id: string): Promise<void> {
  const target = { resourceType: 'SDCDocument', id };
  const nurse = { resourceType: 'User', id: 'nurse-2', display: 'Nurse Tom Berg' };
  const first = contentOf('37.20', '118', '"allergies":["penicillin","latex"],"gone":true');
  const second = contentOf(
    '37.2',
    '128',
    '"allergies":["latex","penicillin"],"medication":[{"name":"Ibuprofen","dose":{"value":400,"unit":"mg"}}],"reason":"Read from the wrong chart "',
  );
  const sent = (content: string): string =>
    `{"document":{"resourceType":"SDCDocument","id":"${id}",${content}},"user":${JSON.stringify(user)}}`;
  const stored = await app.put(
    `/SDCDocument/${id}`,
    `{"resourceType":"SDCDocument","id":"${id}","status":"draft",${first}}`,
  );
  if (stored.status !== 201) throw new Error(stored.text);
  await call(app, '.addendum/add-comment', { target, user, text: 'Measured twice?', path: ['8310-5', 'value'] });
  await call(app, '/sign', sent(first));
  await call(app, '.addendum/add-note', { target, user: nurse, text: 'The patient was seated.\nArm at heart level.' });
  await call(app, '.addendum/add-comment', { target, user, text: 'Cuff too small?', path: ['8480-6'] });
  await call(app, '/amend', { id, user });
  await call(app, '/sign', sent(second));
  const handover = { type: 'acme.sdc.addendum/Handover', target, user, ward: '4B', text: 'Told to the night shift' };
  await call(app, '.addendum/create-addendum', { addendum: handover });
}
