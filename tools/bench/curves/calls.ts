import { type CurveCall, type Sender } from './curve-case';

export const list = <T>(size: number, item: (n: number) => T): T[] => Array.from({ length: size }, (_, n) => item(n));

export const get = (path: string): CurveCall => ({ method: 'GET', path });
export const post = (path: string, body: object): CurveCall => ({ method: 'POST', path, body });
export const put = (path: string, body: object): CurveCall => ({ method: 'PUT', path, body });

export const bundleOf = (type: 'batch' | 'transaction', entry: readonly object[]): object => ({
  resourceType: 'Bundle',
  type,
  entry,
});

export interface Stored {
  readonly resourceType: string;
  readonly id: string;
}

export async function store(send: Sender, resources: readonly Stored[]): Promise<void> {
  for (let at = 0; at < resources.length; at += 500) {
    const entry = resources.slice(at, at + 500).map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    await send(post('/fhir', bundleOf('batch', entry)));
  }
}
