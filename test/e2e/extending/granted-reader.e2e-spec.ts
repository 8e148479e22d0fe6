import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type Person, startTestApp, type TestApp, world } from 'svc-health-server/testing';
import { GrantedReader, ResourceModule, RpcMethod } from '../../../src/index';

@Injectable()
@RpcMethod({ method: 'acme/status', description: 'The status of an Observation.', enforcesRows: true })
class Status {
  constructor(private readonly reader: GrantedReader) {}

  async execute(params: unknown): Promise<string> {
    return (await this.reader.read('Observation', (params as { id: string }).id)).id;
  }
}

@Injectable()
@RpcMethod({ method: 'acme/find', description: 'The ids of Observations.', enforcesRows: true })
class Find {
  constructor(private readonly reader: GrantedReader) {}

  async execute(params: unknown): Promise<readonly string[]> {
    const { criteria, most } = params as { criteria: string; most: number };
    return (await this.reader.search('Observation', criteria, most)).map(({ id }) => id);
  }
}

@Module({ imports: [ResourceModule], providers: [Status, Find] })
class StatusModule {}

const observation = (patient: string): object => ({
  status: 'final',
  code: { text: 'temperature' },
  subject: { reference: `Patient/${patient}` },
});
const rpc = { engine: 'allow-rpc', type: 'rpc', rpc: { 'acme/status': true, 'acme/find': true } };
const searchOf = (type: string, criteria?: string[]): object => ({
  engine: 'matcho',
  matcho: { 'request-method': 'get', params: { 'resource/type': type } },
  ...(criteria === undefined ? {} : { criteria }),
});

describe('GrantedReader in an RPC method of a module', () => {
  let app: TestApp;
  let people: Readonly<Record<'limited' | 'open' | 'nurse' | 'clerk', Person>>;

  beforeAll(async () => {
    app = await startTestApp({ modules: [StatusModule] });
    people = await world(app, {
      people: {
        limited: {
          policies: [
            {
              engine: 'matcho',
              matcho: { params: { _m: '#^acme/' } },
              criteria: ['Observation?subject=Patient/p1'],
            },
          ],
        },
        open: { policies: [rpc] },
        nurse: { policies: [rpc, searchOf('Patient')] },
        clerk: { policies: [rpc, searchOf('Patient', ['Patient?active=true'])] },
      },
      resources: {
        'Patient/p1': { name: [{ family: 'Rivera' }], active: false },
        'Patient/p2': { name: [{ family: 'Rivera' }], active: true },
        'Observation/o1': observation('p1'),
        'Observation/o2': observation('p2'),
        'Observation/o3': observation('p1'),
      },
    });
  });
  afterAll(() => app.close());

  const call = (person: Person, method: string, params: object) =>
    app.post('/rpc', { method, params }, { authorization: person.bearer });
  const found = async (person: Person, criteria: string, most = 10): Promise<unknown> => {
    const answer = await call(person, 'acme/find', { criteria, most });
    return answer.status === 200 ? answer.json<{ result: string[] }>().result.toSorted() : answer.status;
  };

  it('reads only the rows that the policy of the call grants', async () => {
    const read = async (person: Person, id: string): Promise<number> =>
      (await call(person, 'acme/status', { id })).status;
    expect([await read(people.limited, 'o1'), await read(people.limited, 'o2')]).toEqual([200, 422]);
    expect([await read(people.open, 'o1'), await read(people.open, 'o2')]).toEqual([200, 200]);
  });

  it('finds only the rows that the policy of the call grants', async () => {
    expect(await found(people.limited, 'status=final')).toEqual(['o1', 'o3']);
    expect(await found(people.limited, 'subject=Patient/p2')).toEqual([]);
    expect(await found(people.limited, 'status=final', 1)).toHaveLength(1);
    expect(await found(people.open, 'status=final')).toEqual(['o1', 'o2', 'o3']);
  });

  it('follows references only to the resources that the caller may search', async () => {
    expect(await found(people.open, 'subject:Patient.name=rivera')).toBe(403);
    expect(await found(people.nurse, 'subject:Patient.name=rivera')).toEqual(['o1', 'o2', 'o3']);
    expect(await found(people.clerk, 'subject:Patient.name=rivera')).toEqual(['o2']);
  });
});
