import { describe, expect, it } from '@jest/globals';
import { type Request, type Response } from 'express';
import { pacedRequests } from './paced-requests.middleware';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(pacedRequests, () => {
  it('lets one request of the path into each turn of the event loop, in order, and holds up no other', async () => {
    const pace = pacedRequests('/auth/');
    const admitted: string[] = [];
    const arrive = (url: string): void => {
      pace({ url } as Request, {} as Response, () => admitted.push(url));
    };
    ['/auth/token?1', '/auth/token?2', '/fhir/Patient/p1', '/auth/token?3'].forEach(arrive);
    expect(admitted).toEqual(['/fhir/Patient/p1']);
    await turn();
    expect(admitted).toEqual(['/fhir/Patient/p1', '/auth/token?1']);
    await turn();
    arrive('/auth/token?4');
    for (let count = 0; count < 3; count++) await turn();
    expect(admitted.slice(1)).toEqual(['/auth/token?1', '/auth/token?2', '/auth/token?3', '/auth/token?4']);
  });
});
