/**
 * Makes the kept database of a release (README.md): starts a build of it on an empty database, stores data of every
 * kind by HTTP, and ends the server by SIGKILL in the middle of its work. Writes `<version>.sql.gz`, the database, and
 * `<version>.json.gz`, the answers of the server.
 *
 *   node test/upgrades/keep-database.mjs <version> <folder of the build> <URL of an empty database>
 *
 * Needs pg_dump in the PATH, of the major version of the server.
 */
import { Buffer } from 'node:buffer';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { URLSearchParams } from 'node:url';
import { gzipSync } from 'node:zlib';
import pg from 'pg';

const { fetch } = globalThis;
const [, , version, build, databaseUrl] = process.argv;
const PORT = 3971;
const HOOKS = 3972;
/** The settings of testing/test-app.ts, and a key that the spec uses too. */
const SETTINGS = {
  BASE_URL: 'http://svc.example',
  SVC_ROOT_CLIENT_SECRET: 'root-secret-for-specs',
  SVC_ADMIN_PASSWORD: 'admin-password-for-specs',
  SVC_ENCRYPTION_KEY: Buffer.from('kept-database-of-an-old-release!').toString('base64'),
};
const server = `http://127.0.0.1:${PORT}`;
const ROOT = `Basic ${Buffer.from('root:root-secret-for-specs').toString('base64')}`;

async function send(method, path, body, { authorization = ROOT, type = 'application/json' } = {}) {
  const answer = await fetch(server + path, {
    method,
    headers: {
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Written paths, which the spec reads again. */
const written = [];

async function put(path, body) {
  const { status, text } = await send('PUT', path, body);
  if (status !== 200 && status !== 201) throw new Error(`PUT ${path}: ${status} ${text}`);
  written.push(path);
  return JSON.parse(text);
}

async function until(what, isSo) {
  for (let tries = 0; tries < 300; tries++) {
    const found = await isSo();
    if (found) return found;
    await delay(100);
  }
  throw new Error(`Never: ${what}`);
}

const fhir = (type, id, members) => put(`/fhir/${type}/${id}`, { resourceType: type, id, ...members });
const subject = (n) => ({ reference: `Patient/p${n}` });
const loinc = (code) => ({ coding: [{ system: 'http://loinc.org', code }] });
const FAMILIES = ['Muñoz', "O'Brien", 'Straße', 'de la Cruz', 'Ångström', 'Lee'];

async function storeClinicalData() {
  await fhir('Organization', 'o1', { name: 'Clinic of the North', identifier: [{ system: 'urn:org', value: 'N-1' }] });
  await fhir('Practitioner', 'dr1', { name: [{ family: 'Okafor', given: ['Ada'] }] });
  await fhir('Location', 'l1', { name: 'Ward 4B', position: { latitude: 47.3769, longitude: 8.5417 } });
  for (let n = 1; n <= 30; n++) {
    await fhir('Patient', `p${n}`, {
      identifier: [{ system: 'urn:mrn', value: `M-${n % 3}-${n}` }],
      name: [{ family: FAMILIES[n % FAMILIES.length], given: [`Given${n}`, 'Maria'] }],
      gender: n % 2 === 0 ? 'female' : 'male',
      birthDate: `19${60 + n}-0${(n % 9) + 1}`,
      managingOrganization: { reference: 'Organization/o1' },
      ...(n % 5 === 0 ? { generalPractitioner: [{ reference: 'Practitioner/dr1' }] } : {}),
    });
  }
  for (let n = 1; n <= 60; n++) {
    const patient = (n % 10) + 1;
    await fhir('Observation', `v${n}`, {
      status: n % 4 === 0 ? 'amended' : 'final',
      code: loinc(n % 2 === 0 ? '8867-4' : '29463-7'),
      subject: subject(patient),
      encounter: { reference: `Encounter/e${(n % 5) + 1}` },
      effectiveDateTime: `2024-0${(n % 9) + 1}-${10 + (n % 20)}T08:00:00${n % 3 === 0 ? 'Z' : '+02:00'}`,
      valueQuantity: {
        value: n / 2,
        unit: n % 2 === 0 ? '/min' : 'kg',
        system: 'http://unitsofmeasure.org',
        code: n % 2 === 0 ? '/min' : 'kg',
      },
    });
  }
  for (let n = 1; n <= 5; n++) {
    const period = { start: `2024-0${n}-01`, end: `2024-0${n}-09` };
    await fhir('Encounter', `e${n}`, {
      ...{ status: 'finished', class: { code: 'AMB' }, subject: subject(n), period },
      location: [{ location: { reference: 'Location/l1' } }],
    });
    await fhir('Condition', `c${n}`, {
      ...{ subject: subject(n), code: { text: `Finding ${n}` }, onsetDateTime: `2023-0${n}` },
      clinicalStatus: {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/condition-clinical',
            code: n % 2 === 0 ? 'active' : 'resolved',
          },
        ],
      },
    });
    await fhir('Procedure', `pr${n}`, { status: 'completed', subject: subject(n), performedPeriod: period });
    await fhir('MedicationRequest', `mr${n}`, {
      ...{ status: 'active', intent: 'order', subject: subject(n) },
      medicationReference: { reference: 'Medication/m1' },
    });
    await fhir('AllergyIntolerance', `a${n}`, {
      ...{ patient: subject(n), code: { text: 'Latex' } },
      clinicalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
      },
    });
    await fhir('Immunization', `i${n}`, {
      ...{ status: 'completed', vaccineCode: { text: 'Measles' }, patient: subject(n) },
      occurrenceDateTime: `2020-01-0${n}`,
    });
  }
  await fhir('Medication', 'm1', { code: { coding: [{ system: 'urn:drug', code: 'ibu' }], text: 'Ibuprofen' } });
  await fhir('DiagnosticReport', 'r1', {
    ...{ status: 'final', code: loinc('58410-2'), subject: subject(1) },
    result: [{ reference: 'Observation/v1' }, { reference: 'Observation/v2' }],
  });
  await fhir('Specimen', 's1', { subject: subject(1), collection: { collectedDateTime: '2024-01-01' } });
  await fhir('CarePlan', 'cp1', { status: 'active', intent: 'plan', subject: subject(1) });
  await fhir('Goal', 'g1', { lifecycleStatus: 'active', description: { text: 'Walk' }, subject: subject(1) });
  await fhir('Appointment', 'ap1', {
    ...{ status: 'booked', start: '2024-05-01T10:00:00Z', end: '2024-05-01T10:30:00Z' },
    participant: [{ actor: subject(1), status: 'accepted' }],
  });
  await fhir('Device', 'd1', { identifier: [{ value: 'D-1' }], patient: subject(1) });
  await fhir('DocumentReference', 'dr', {
    ...{ status: 'current', subject: subject(1) },
    content: [{ attachment: { contentType: 'text/plain', url: 'http://files.example/1' } }],
  });
  await fhir('Questionnaire', 'q1', { status: 'active', url: 'http://forms.example/q1', title: 'Sleep' });
  await fhir('QuestionnaireResponse', 'qr1', {
    ...{ status: 'completed', subject: subject(1), questionnaire: 'http://forms.example/q1' },
    item: [{ linkId: '1', answer: [{ valueDecimal: 1.1 }] }],
  });
  await fhir('List', 'li1', {
    status: 'current',
    mode: 'working',
    entry: [{ item: subject(1) }, { item: subject(2) }],
  });
  await fhir('Coverage', 'co1', {
    status: 'active',
    beneficiary: subject(1),
    payor: [{ reference: 'Organization/o1' }],
  });
  await fhir('ValueSet', 'vs1', {
    ...{ status: 'active', url: 'http://sets.example/vitals' },
    compose: { include: [{ system: 'http://loinc.org', concept: [{ code: '8867-4' }] }] },
  });
}

/** Stores several versions of resources: updates, a patch, deletions, and a resource that was created again. */
async function storeHistory() {
  for (const round of [1, 2]) {
    for (let n = 1; n <= 5; n++) {
      await fhir('Patient', `p${n}`, {
        identifier: [{ system: 'urn:mrn', value: `M-${n % 3}-${n}` }],
        name: [{ family: `Renamed${round}`, given: [`Given${n}`] }],
        birthDate: '1990-01-01',
      });
    }
  }
  const patch = JSON.stringify([{ op: 'add', path: '/active', value: true }]);
  await send('PATCH', '/fhir/Patient/p6', patch, { type: 'application/json-patch+json' });
  for (const id of ['v58', 'v59', 'v60']) await send('DELETE', `/fhir/Observation/${id}`);
  await fhir('Observation', 'v60', { status: 'final', code: loinc('8867-4'), subject: subject(1) });
}

async function tokenOf(form, authorization) {
  const { status, text } = await send('POST', '/auth/token', new URLSearchParams(form).toString(), {
    authorization,
    type: 'application/x-www-form-urlencoded',
  });
  if (status !== 200) throw new Error(`${form.grant_type}: ${status} ${text}`);
  return JSON.parse(text);
}

/** Stores tokens of both formats, used and unused refresh tokens, and a User whose policies grant only some rows. */
async function storeIdentities() {
  const client = (format) => ({
    secret: `secret-${format}`,
    grant_types: ['password', 'client_credentials'],
    auth: {
      password: { refresh_token: true, token_format: format, token_expiration: 10 * 365 * 86_400 },
      client_credentials: { token_expiration: 10 * 365 * 86_400 },
    },
  });
  const basic = (id) => `Basic ${Buffer.from(`app-${id}:secret-${id}`).toString('base64')}`;
  await put('/Client/app-jwt', client('jwt'));
  await put('/Client/app-opaque', {
    ...client('opaque'),
    auth: { ...client().auth, password: { ...client().auth.password, token_format: undefined } },
  });
  for (const id of ['nurse', 'limited']) {
    await put(`/User/${id}`, {
      userName: id,
      email: `${id}@svc.example`,
      password: `password of ${id}`,
      data: { patients: ['p1', 'p2'] },
    });
  }
  await put('/AccessPolicy/nurse', { engine: 'allow', link: [{ resourceType: 'User', id: 'nurse' }] });
  await put('/AccessPolicy/limited', {
    engine: 'allow',
    link: [{ resourceType: 'User', id: 'limited' }],
    criteria: ['Patient?_id={{user.data.patients}}', 'Observation?subject=Patient/{{user.data.patients}}&status=final'],
  });
  const login = (user, format) =>
    tokenOf({ grant_type: 'password', username: user, password: `password of ${user}` }, basic(format));
  const [jwt, opaque, limited] = [
    await login('nurse', 'jwt'),
    await login('nurse', 'opaque'),
    await login('limited', 'opaque'),
  ];
  const used = await login('nurse', 'opaque');
  const next = await tokenOf({ grant_type: 'refresh_token', refresh_token: used.refresh_token }, basic('opaque'));
  const closed = await login('nurse', 'opaque');
  await send('DELETE', '/Session', undefined, { authorization: `Bearer ${closed.access_token}` });
  return { jwt, opaque, limited, used, next, closed };
}

async function call(method, params) {
  const { status, text } = await send('POST', '/rpc', { method: `svc.sdc${method}`, params });
  if (status !== 200) throw new Error(`${method}: ${text}`);
}

async function storeAddenda() {
  const user = { resourceType: 'User', id: 'nurse' };
  for (const id of ['doc1', 'doc2']) {
    const target = { resourceType: 'SDCDocument', id };
    const document = { ...target, type: 'clinic/Vitals', temperature: { value: 37.2 }, allergies: ['latex'] };
    await put(`/SDCDocument/${id}`, { ...document, status: 'draft' });
    await call('.addendum/add-comment', { target, user, text: 'Measured twice?', path: ['temperature'] });
    await call('/sign', { document, user });
    await call('.addendum/add-note', { target, user, text: 'The patient was seated.' });
    await call('/amend', { id, user });
    await call('/sign', { document: { ...document, temperature: { value: 38.1 } }, user });
  }
}

/** Starts a receiver that accepts the first batch of `half`, refuses its later ones, and never answers `hang`. */
function openReceiver() {
  const received = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const path = request.url;
      const isFirst = !received.some((one) => one.path === path);
      const isTaken = path === '/done' || (path === '/half' && isFirst);
      received.push({ path, id: request.headers['webhook-id'], body, isTaken });
      if (path !== '/hang') response.writeHead(isTaken ? 200 : 500).end();
    });
  });
  receiver.listen(HOOKS, '127.0.0.1');
  return { received, close: () => receiver.closeAllConnections() ?? receiver.close() };
}

async function storeDestinations() {
  await put('/fhir/SvcSubscriptionTopic/flags', {
    ...{ resourceType: 'SvcSubscriptionTopic', id: 'flags', url: 'http://topics.example/flags', status: 'active' },
    trigger: [{ resource: 'Flag' }],
  });
  for (const id of ['done', 'half', 'hang', 'queued']) {
    const endpoint = id === 'queued' ? 'http://127.0.0.1:9/queued' : `http://127.0.0.1:${HOOKS}/${id}`;
    await put(`/fhir/SvcTopicDestination/${id}`, {
      resourceType: 'SvcTopicDestination',
      id,
      meta: { profile: ['http://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      ...{ kind: 'webhook-at-least-once', topic: 'http://topics.example/flags' },
      parameter: [
        { name: 'endpoint', valueUrl: endpoint },
        { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
        { name: 'header', valueString: 'X-Key: of the receiver' },
        { name: 'secret', valueString: `whsec_${Buffer.from('a signature of twenty-four bytes').toString('base64')}` },
      ],
    });
  }
  const flag = (n, status) => fhir('Flag', `f${n}`, { status, code: { text: 'Falls' }, subject: subject(n) });
  for (let n = 1; n <= 3; n++) await flag(n, 'active');
  await delay(2000); // gives each destination a separate first batch
  for (let n = 1; n <= 5; n++) await flag(n, 'inactive');
  await send('DELETE', '/fhir/Flag/f2');
}

/**
 * Stores a parameter with a complete index, and one with a partly built index: a batch of 200 is done, and a row of the
 * next one is locked.
 */
async function storeParameters(client) {
  const entry = Array.from({ length: 450 }, (_one, n) => ({
    resource: {
      resourceType: 'Basic',
      id: `b${n}`,
      code: { text: `Colour ${n % 7}` },
      author: { reference: 'Practitioner/dr1' },
    },
    request: { method: 'PUT', url: `Basic/b${n}` },
  }));
  const { status, text } = await send('POST', '/fhir', { resourceType: 'Bundle', type: 'transaction', entry });
  if (status !== 200) throw new Error(text);
  const parameter = (base, code, expression, type) =>
    fhir('SearchParameter', `live-${code}`, {
      ...{ url: `http://parameters.example/${code}`, name: code, status: 'active', description: code },
      ...{ code, base: [base], type, expression },
    });
  const state = async (code) =>
    (
      await client.query(
        'select state, done_count from search_parameter_state where code = $1 and definition_id is not null',
        [code],
      )
    ).rows[0];
  await parameter('Flag', 'finding', 'Flag.code.text', 'string');
  await until('the first index is complete', async () => (await state('finding'))?.state === 'active');
  await client.query(`begin; select from resource where type = 'Basic' and id = 'b449' for update`);
  await parameter('Basic', 'colour', 'Basic.code.text', 'string');
  await until('a batch is indexed', async () => Number((await state('colour'))?.done_count) >= 200);
}

async function main() {
  const child = spawn(process.execPath, [join(build, 'src', 'main.js')], {
    env: { PATH: process.env.PATH, PORT: String(PORT), DATABASE_URL: databaseUrl, SVC_LOG_LEVEL: 'warn', ...SETTINGS },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const receiver = openReceiver();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await until('the server answers', () =>
    fetch(`${server}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await storeClinicalData();
  await storeHistory();
  const tokens = await storeIdentities();
  await storeAddenda();
  await storeDestinations();
  await until(
    'batches wait, are refused and are under way',
    () =>
      ['/done', '/half', '/hang'].every((path) => receiver.received.some((one) => one.path === path)) &&
      receiver.received.filter(({ path }) => path === '/half').length >= 3 &&
      receiver.received.filter(({ path }) => path === '/done').length >= 3,
  );
  const answers = {};
  for (const path of new Set(written)) {
    answers[path] = await send('GET', path);
    for (let n = 1; ; n++) {
      const answer = await send('GET', `${path}/_history/${n}`);
      if (answer.status === 404) break;
      answers[`${path}/_history/${n}`] = answer;
    }
  }
  await storeParameters(client);
  child.kill('SIGKILL');
  await client.end();
  receiver.close();
  const dump = execFileSync(
    'pg_dump',
    ['--inserts', '--no-owner', '--no-privileges', '--no-toast-compression', databaseUrl],
    { maxBuffer: 1e9 },
  );
  const sql = dump
    .toString()
    .split('\n')
    .filter((line) => !line.startsWith('\\'))
    .join('\n'); // without the commands of psql
  const keep = (name, text) => writeFileSync(join(import.meta.dirname, name), gzipSync(text, { level: 9 }));
  keep(`${version}.sql.gz`, sql);
  keep(`${version}.json.gz`, JSON.stringify({ answers, tokens, received: receiver.received }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1); // the exit handler of this process ends the server
});
