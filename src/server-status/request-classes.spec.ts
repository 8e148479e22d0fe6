import { describe, expect, it } from '@jest/globals';
import { requestClassOf, requestTotalsOf, secondsOfShare } from './request-classes';

describe('the classes of requests', () => {
  it.each([
    ['POST /auth/token', 'login'],
    ['POST /auth/introspect', 'auth'],
    ['DELETE /fhir/Session', 'auth'],
    ['POST /rpc', 'rpc'],
    ['GET /fhir/:type/:id/$everything', 'everything'],
    ['GET /:type/$overview', 'operation'],
    ['POST /fhir/$:code', 'operation'],
    ['GET /fhir/:type/:id/_history/:version', 'history'],
    ['POST /fhir', 'bundle'],
    ['POST /', 'bundle'],
    ['GET /fhir', 'search'],
    ['GET /:type', 'search'],
    ['POST /fhir/:type/_search', 'search'],
    ['GET /fhir/:compartment/:id/:type', 'search'],
    ['GET /fhir/:type/:id', 'read'],
    ['PUT /fhir/:type/:id', 'write'],
    ['POST /:type', 'write'],
    ['GET /health/ready', 'other'],
    ['GET none', 'other'],
  ])('assign %s to %s', (request, wanted) => {
    const [method = '', route = ''] = request.split(' ');
    expect(requestClassOf(method, route)).toBe(wanted);
  });

  it('sum up routes and statuses, and exclude the time of requests that were cut off', () => {
    const series = (route: string, status: string, counts: readonly number[]): object[] => [
      ...counts.map((value, index) => ({
        suffix: '_bucket',
        labels: { method: 'GET', route, status, le: ['0.1', '0.5', '+Inf'][index] },
        value,
      })),
      { suffix: '_count', labels: { method: 'GET', route, status }, value: counts.at(-1) },
    ];
    const samples = [
      ...series('/:type/:id', '2xx', [6, 8, 8]),
      ...series('/fhir/:type/:id', '4xx', [2, 2, 2]),
      ...series('/fhir/:type/:id', 'cut', [0, 0, 5]),
    ] as Parameters<typeof requestTotalsOf>[0];
    const [read, ...others] = requestTotalsOf(samples);
    expect(others).toEqual([]);
    expect(read).toMatchObject({ class: 'read', count: 15, refused: 2, failed: 0, cut: 5 });
    expect([...(read?.within ?? [])]).toEqual([
      [0.1, 8],
      [0.5, 10],
      [Infinity, 10],
    ]);
  });

  it('compute quantiles as Prometheus does', () => {
    const within = new Map([
      [0.1, 8],
      [0.5, 10],
      [Infinity, 20],
    ]);
    expect([0.2, 0.45, 0.99].map((share) => secondsOfShare(within, share))).toEqual([0.05, expect.closeTo(0.3), 0.5]);
    expect(secondsOfShare(new Map(), 0.5)).toBeUndefined();
  });
});
