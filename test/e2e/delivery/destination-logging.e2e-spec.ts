import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RequestContext } from '../../../src/platform/request/request-context';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

let app: TestApp;
let receiver: WebhookReceiver;
let lines: string[];

beforeAll(async () => {
  app = await startTestApp();
  receiver = await WebhookReceiver.start();
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
});
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  app.app.useLogger(new ContextLogger('verbose', app.app.get(RequestContext)));
});
afterEach(() => {
  jest.restoreAllMocks();
  app.app.useLogger(new ContextLogger('error', app.app.get(RequestContext)));
});

const records = (): { readonly level: string; readonly message: Record<string, unknown> }[] =>
  lines
    .filter((line) => line.includes('delivery attempt'))
    .map((line) => JSON.parse(line) as { level: string; message: Record<string, unknown> });

/** Causes two attempts for one event, of which the first is refused. */
async function deliverTo(more: object): Promise<{ readonly id: string; readonly patient: string }> {
  const id = await newDestination(app, destination(await newTopic(app), more, receiver.url));
  receiver.next({ kind: 'answer', status: 503, body: 'geheim' });
  const patient = newName();
  await app.put(`/fhir/Patient/${patient}`, { resourceType: 'Patient', id: patient, name: [{ family: 'Geheim' }] });
  await delivered(app, id, 1);
  await app.delete(`/fhir/SvcTopicDestination/${id}`);
  return { id, patient };
}

describe('A destination with enableLogging', () => {
  it('logs each attempt with numbers and the outcome, but nothing of the event and no secret', async () => {
    const parameter = [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'header', valueString: 'Authorization: Bearer geheim' },
    ];
    const { id, patient } = await deliverTo({ enableLogging: true, parameter });
    const entry = { event: 'delivery attempt', destination: id, firstNumber: 1, lastNumber: 1 };
    const durationMilliseconds = expect.any(Number);
    expect(records().map(({ level, message }) => [level, message])).toEqual([
      ['log', { ...entry, attempt: 1, isDelivered: false, outcome: 'HTTP 503', durationMilliseconds }],
      ['log', { ...entry, attempt: 2, isDelivered: true, outcome: 'HTTP 200', durationMilliseconds }],
    ]);
    const text = lines.join('');
    expect([text.toLowerCase().includes('geheim'), text.includes(`Patient/${patient}`)]).toEqual([false, false]);
  });

  it.each([
    ['error', 'error'],
    ['warn', 'warn'],
    ['info', 'log'],
    ['debug', 'debug'],
    ['trace', 'verbose'],
  ])('logs with the level of its logLevel: %s', async (logLevel, level) => {
    await deliverTo({ enableLogging: true, logLevel });
    expect(records().map((record) => record.level)).toEqual([level, level]);
  });

  it.each([{}, { enableLogging: false, logLevel: 'error' }])('logs nothing without it: %j', async (more) => {
    await deliverTo(more);
    expect(records()).toEqual([]);
  });

  it('applies a change from the next attempt', async () => {
    const id = await newDestination(app, destination(await newTopic(app), {}, receiver.url));
    const read = (await app.get(`/fhir/SvcTopicDestination/${id}`)).json();
    for (const [index, enableLogging] of [false, true, false].entries()) {
      await app.put(`/fhir/SvcTopicDestination/${id}`, { ...read, enableLogging });
      await app.post('/fhir/Patient', { resourceType: 'Patient' });
      await delivered(app, id, index + 1);
    }
    expect(records().map(({ message }) => message.firstNumber)).toEqual([2]);
  });

  it.each([
    [{ logLevel: 'loud' }, 'logLevel must be one of error, warn, info, debug, trace'],
    [{ enableLogging: 'yes' }, 'enableLogging must be true or false'],
  ])('refuses other values: %j', async (more, message) => {
    const answer = await app.post('/fhir/SvcTopicDestination', destination('http://topics.example/none', more));
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(message)]);
  });
});
