import { describe, expect, it } from '@jest/globals';
import { type DestinationPresentation } from '../destinations/destination-presentation';
import { type RenderedEvent, notificationBundle } from './notification-bundle';

const batch = { destinationId: 'd', createdAt: new Date('2025-02-11T09:14:08Z'), firstNumber: 7, origin: null };
const plain: DestinationPresentation = {
  topic: 'http://topics.example/t',
  content: 'full-resource',
  includeEntryAction: false,
  includeVersionId: false,
  includeVersionIdInFocusReference: false,
  canonicalBase: 'http://profiles.example',
};
const event = (method: string, interaction: string, text?: string): RenderedEvent => ({
  type: 'Patient',
  id: 'p',
  version: 3,
  interaction,
  method,
  isUndecided: false,
  ...(text === undefined ? {} : { text }),
});

/** Returns the text of the entries after the first one, which is the status. */
const entryText = (rendered: RenderedEvent, presentation: Partial<DestinationPresentation> = {}): string => {
  const text = notificationBundle(batch, [rendered], { ...plain, ...presentation }, 'http://svc.example');
  return text.slice(text.indexOf('},{"') + 2, -2);
};

describe(notificationBundle.name, () => {
  it('begins with the status of the destination', () => {
    const text = notificationBundle(
      batch,
      [event('DELETE', 'delete'), event('POST', 'create', '{}')],
      plain,
      'http://svc.example',
    );
    const { entry, ...bundle } = JSON.parse(text) as { entry: unknown[] };
    expect([bundle, entry[0]]).toEqual([
      { resourceType: 'Bundle', type: 'history', timestamp: '2025-02-11T09:14:08.000Z' },
      {
        resource: {
          resourceType: 'SvcSubscriptionStatus',
          status: 'active',
          type: 'event-notification',
          notificationEvent: [
            { eventNumber: 7, focus: { reference: 'Patient/p' } },
            { eventNumber: 8, focus: { reference: 'Patient/p' } },
          ],
          topic: 'http://topics.example/t',
          'topic-destination': { reference: 'SvcTopicDestination/d' },
        },
      },
    ]);
  });

  it('contains the stored text unchanged', () => {
    expect(entryText(event('POST', 'create', '{"x":1.10,"y":1e5}'))).toBe(
      '{"fullUrl":"http://svc.example/fhir/Patient/p","request":{"method":"POST","url":"/fhir/Patient"},' +
        '"resource":{"x":1.10,"y":1e5}}',
    );
  });

  it.each([
    ['POST', 'create', '"method":"POST","url":"/fhir/Patient"'],
    ['PUT', 'create', '"method":"PUT","url":"/fhir/Patient/p"'],
    ['PUT', 'update', '"method":"PUT","url":"/fhir/Patient/p"'],
    ['PATCH', 'update', '"method":"PUT","url":"/fhir/Patient/p"'],
    ['DELETE', 'delete', '"method":"DELETE","url":"/fhir/Patient/p"'],
  ])('shows for the method %s of a %s the request', (method, interaction, request) => {
    expect(entryText(event(method, interaction), { content: 'id-only' })).toBe(
      `{"fullUrl":"http://svc.example/fhir/Patient/p","request":{${request}}}`,
    );
  });

  it('contains only the status if content is empty', () => {
    const text = notificationBundle(
      batch,
      [event('PUT', 'update', '{}')],
      { ...plain, content: 'empty' },
      'http://svc.example',
    );
    expect((JSON.parse(text) as { entry: unknown[] }).entry.length).toBe(1);
  });

  it('contains action and version in extensions with the canonical base of the profile', () => {
    const flags = { includeEntryAction: true, includeVersionId: true };
    expect((JSON.parse(entryText(event('PUT', 'update', '{}'), flags)) as { extension: unknown }).extension).toEqual([
      { url: 'http://profiles.example/StructureDefinition/bundle-entryActionCode', valueCode: 'update' },
      { url: 'http://profiles.example/StructureDefinition/bundle-entryVersionId', valueId: '3' },
    ]);
  });

  it('marks an event whose criteria could not be evaluated', () => {
    const undecided = { ...event('PUT', 'update'), isUndecided: true };
    expect(notificationBundle(batch, [undecided], plain, '')).toContain(
      '[{"extension":[{"url":"http://profiles.example/StructureDefinition/event-undecided","valueBoolean":true}],"eventNumber":7,',
    );
  });

  it('contains the correlationId that the request sent, only at its event', () => {
    const correlated = { ...event('PUT', 'update'), correlationId: 'order 1' };
    expect(notificationBundle(batch, [correlated, event('PUT', 'update')], plain, '')).toContain(
      '[{"eventNumber":7,"focus":{"reference":"Patient/p"},"correlationId":"order 1"},{"eventNumber":8,"focus":{"reference":"Patient/p"}}]',
    );
  });

  it('contains the version in the reference if the destination requires it', () => {
    const text = notificationBundle(
      batch,
      [event('PUT', 'update')],
      { ...plain, includeVersionIdInFocusReference: true },
      '',
    );
    expect(text).toContain('{"eventNumber":7,"focus":{"reference":"Patient/p/_history/3"}}');
  });
});
