import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Global, type INestApplication, Injectable, Module, type Type } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Type as InstanceOf } from 'class-transformer';
import { IsArray, IsInt, IsObject, IsString, ValidateNested } from 'class-validator';
import { type NextFunction, type Request, type Response, raw } from 'express';
import { DataSource } from 'typeorm';
import { ConfigModule } from '../platform/config/config.module';
import { readEnvironment } from '../platform/config/environment';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { HttpModule } from '../platform/http/http.module';
import { ANSWER_TERMS, type AnswerTerms } from '../platform/http/send-body';
import { RequestContext } from '../platform/request/request-context';
import { type GrantedRows } from '../platform/request/granted-rows';
import { JsonText } from '../platform/json/json-text';
import { Slices } from '../platform/time/slices';
import { DecidesEntryAccess, type EntryAccess, type Reader } from '../resource/access/entry-access';
import { type RpcCall, type RpcHandler, RpcMethod } from './rpc-method';
import { type ParamError, RpcRefusal } from './rpc-refusal';
import { RpcModule } from './rpc.module';

class Place {
  @IsString()
  ward!: string;
}

class ProbeParams {
  @IsInt()
  count!: number;

  @IsObject()
  @ValidateNested()
  @InstanceOf(() => Place)
  place!: Place;

  @IsString({ each: true })
  @IsArray()
  tags!: string[];
}

@RpcMethod({ method: 'acme/probe', params: ProbeParams, description: 'Shows what reaches a handler.' })
class Probe implements RpcHandler<ProbeParams, object> {
  execute(params: ProbeParams, call: RpcCall): Promise<object> {
    return Promise.resolve({
      params,
      isInstance: params instanceof ProbeParams,
      caller: call.caller,
      count: call.text('count'),
      gone: call.text('gone'),
    });
  }
}

@RpcMethod({ method: 'acme/checked', params: ProbeParams, description: 'Knows more of its params than their class.' })
class Checked implements RpcHandler<ProbeParams, object> {
  faultsOf({ place }: { readonly place?: unknown }): readonly ParamError[] {
    const isUnlucky = JSON.stringify(place) === '{"ward":"13"}';
    return isUnlucky ? [{ path: ['place', 'ward'], message: 'there is no ward 13' }] : [];
  }

  execute(params: ProbeParams): Promise<object> {
    return Promise.resolve(params);
  }
}

/** A method whose param selects its result or error. */
@RpcMethod({ method: 'acme/end', description: 'Returns or throws what its param names.' })
class End implements RpcHandler<{ readonly as?: string }, unknown> {
  execute({ as }: { readonly as?: string }): Promise<unknown> {
    switch (as) {
      case 'nothing':
        return Promise.resolve(undefined);
      case 'text':
        return Promise.resolve(new JsonText('{"value":1.10}'));
      case 'list':
        return Promise.resolve([1, 'two']);
      case 'refusal':
        throw new RpcRefusal('Done already', { type: 'workflow-has-been-done' });
      case 'not-found':
        throw new ServiceError('not-found', 'Resource SDCDocument/1 not found');
      case 'forbidden':
        throw new ServiceError('forbidden', 'Not yours');
      case 'busy':
        throw new ServiceError('busy', 'Try again', { retryAfterSeconds: 3, operatorDetail: 'pool is dry' });
      case 'timeout':
        throw new ServiceError('timeout', 'Too slow');
      default:
        throw new Error('secret of the server');
    }
  }
}

/** Access checks that grant every call, since policies have their own specs. */
@Injectable()
@DecidesEntryAccess('this spec')
class Everything implements EntryAccess {
  readonly grant = (): Promise<GrantedRows> => Promise.resolve('all');

  rowsOf(): Promise<GrantedRows> {
    return this.grant();
  }

  readerNamed(): Promise<Reader> {
    return Promise.resolve({ rowsOf: this.grant, searchedRows: this.grant });
  }

  searchedRows(): Promise<GrantedRows> {
    return this.grant();
  }

  openedRows(): Promise<GrantedRows> {
    return this.grant();
  }

  assertMayRedefine(): Promise<void> {
    return Promise.resolve();
  }

  refusalOfSearch(): Promise<ServiceError> {
    return Promise.resolve(new ServiceError('forbidden', 'Nothing is refused here'));
  }
}

/** The pool of the database, whose size the slots read. */
const POOL = { options: { max: 1 } };

/** Providers of the database. No call of this spec uses a connection. */
@Global()
@Module({
  providers: [Statements, UnitOfWork, { provide: DataSource, useValue: { driver: { master: POOL } } }],
  exports: [Statements, UnitOfWork],
})
class NoDatabase {}

async function startApp(...providers: Type[]): Promise<INestApplication> {
  @Module({
    imports: [ConfigModule.of(readEnvironment({})), HttpModule, NoDatabase, RpcModule],
    providers: [Everything, ...providers],
  })
  class App {}
  const testing = await Test.createTestingModule({ imports: [App] }).compile();
  const app = testing.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  const requests = app.get(RequestContext);
  app.setLocal(ANSWER_TERMS, { stallSeconds: 10, requests, slices: app.get(Slices) } satisfies AnswerTerms);
  app.use(raw({ type: () => true, limit: '20mb' }));
  app.use((_request: Request, _response: Response, next: NextFunction) => {
    requests.run('request-7', () => {
      requests.identify({ clientId: 'root' }, { registries: 1, rights: 1 });
      next();
    });
  });
  await app.listen(0, '127.0.0.1');
  return app;
}

describe('POST /rpc', () => {
  let app: INestApplication;
  let address: string;

  beforeAll(async () => {
    app = await startApp(Probe, Checked, End);
    address = `${await app.getUrl()}/rpc`;
  });
  afterAll(() => app.close());

  async function send(
    body: string | Uint8Array,
    path = '',
  ): Promise<{ status: number; text: string; headers: Headers }> {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(address + path, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }
  async function call(method: string, params?: object): Promise<{ status: number; body: unknown; headers: Headers }> {
    const { status, text, headers } = await send(JSON.stringify({ method, params }));
    return { status, body: JSON.parse(text) as unknown, headers };
  }

  describe('the result', () => {
    it('has the digits and key order of the params for svc/echo', async () => {
      const params = '{"b":1.10,"a":12345678901234567890,"c":[1e2,-0.0,"\\u00e9/"],"":{}}';
      const { status, text, headers } = await send(`{"method":"svc/echo", "params": ${params}, "id": 1}`);
      expect({ status, text, type: headers.get('content-type') }).toEqual({
        status: 200,
        text: `{"result":${params}}`,
        type: 'application/json; charset=utf-8',
      });
    });

    it.each([
      ['nothing', '{"result":null}'],
      ['text', '{"result":{"value":1.10}}'],
      ['list', '{"result":[1,"two"]}'],
    ])('has for %s the text %s', async (as, text) => {
      expect(await send(`{"method":"acme/end","params":{"as":"${as}"}}`)).toMatchObject({ status: 200, text });
    });

    it('is the same with a trailing slash, with ?_m= and without params', async () => {
      const sent = '{"method":"svc/echo"}';
      const answers = await Promise.all(['', '/', '?_m=svc/other'].map((path) => send(sent, path)));
      expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([200, '{"result":{}}']));
    });
  });

  describe('params', () => {
    it('are passed as an instance of their class, without members that the class does not declare', async () => {
      const params =
        '{"count":7,"place":{"ward":"4B","bed":1},"tags":["a"],"more":{"deep":true},"toString":1,"hasOwnProperty":2}';
      const { text } = await send(`{"method":"acme/probe","params":${params}}`);
      expect(JSON.parse(text)).toEqual({
        result: {
          params: { count: 7, place: { ward: '4B' }, tags: ['a'] },
          isInstance: true,
          caller: { clientId: 'root' },
          count: '7',
        },
      });
    });

    it('are refused with the path of each invalid member', async () => {
      expect(await call('acme/probe', { count: 1.5, place: { ward: 4 }, tags: [1] })).toMatchObject({
        status: 422,
        body: {
          error: {
            message: 'Invalid params',
            errors: [
              { path: ['count'], message: 'count must be an integer number' },
              { path: ['place', 'ward'], message: 'ward must be a string' },
              { path: ['tags'], message: 'each value in tags must be a string' },
            ],
          },
        },
      });
    });

    it('are reported if they are misspelt; other unknown ones are ignored', async () => {
      const place = { ward: '4B' };
      expect(await call('acme/probe', { count: 1, place, tags: [], tag: 1, note: 2 })).toMatchObject({ status: 200 });
      expect(await call('acme/probe', { cuont: 1, place, tags: [], note: 2 })).toMatchObject({
        status: 422,
        body: {
          error: {
            message: 'Invalid params',
            errors: [
              { path: ['count'], message: 'count is required' },
              { path: ['cuont'], message: 'no such param. Did you mean "count"?' },
            ],
          },
        },
      });
    });

    it('are reported together with the errors that the method itself finds', async () => {
      expect(await call('acme/checked', { count: 'x', place: { ward: '13' }, tags: [] })).toMatchObject({
        status: 422,
        body: {
          error: {
            errors: [
              { path: ['count'], message: 'count must be an integer number' },
              { path: ['place', 'ward'], message: 'there is no ward 13' },
            ],
          },
        },
      });
    });

    it('are reported as required if they are missing', async () => {
      const errors = ['count', 'place', 'tags'].map((name) => ({ path: [name], message: `${name} is required` }));
      expect(await call('acme/probe')).toMatchObject({
        status: 422,
        body: { error: { message: 'Invalid params', errors } },
      });
    });

    it.each(['a string', 1, [], null])('are refused if they are %j', async (params) => {
      const { status, text } = await send(JSON.stringify({ method: 'svc/echo', params }));
      expect({ status, body: JSON.parse(text) as unknown }).toEqual({
        status: 422,
        body: {
          error: {
            message: 'Invalid params',
            type: 'rpc-params-invalid',
            errors: [{ path: [], message: 'params must be an object' }],
          },
        },
      });
    });

    it.each([[], 'text', null, [{ ward: '4B' }]].map((place) => ({ place })))(
      'are refused for %j in place of a nested object',
      async ({ place }) => {
        const { status, body } = await call('acme/probe', { count: 1, place, tags: [] });
        expect({ status, body }).toEqual({
          status: 422,
          body: {
            error: {
              message: 'Invalid params',
              type: 'rpc-params-invalid',
              errors: [{ path: ['place'], message: 'place must be an object' }],
            },
          },
        });
      },
    );
  });

  describe('a refused call', () => {
    it.each([
      ['refusal', 422, { error: { message: 'Done already', type: 'workflow-has-been-done' } }],
      ['not-found', 422, { error: { message: 'Resource SDCDocument/1 not found' } }],
      ['busy', 503, { error: { message: 'Try again' } }],
      ['timeout', 504, { error: { message: 'Too slow' } }],
      ['bug', 500, { error: { message: 'Internal error. Name this request id to the operator: request-7' } }],
    ])('returns for %s the status %i', async (as, status, body) => {
      expect(await call('acme/end', { as })).toMatchObject({ status, body });
    });

    it('returns Retry-After if it is busy', async () => {
      expect((await call('acme/end', { as: 'busy' })).headers.get('retry-after')).toBe('3');
    });

    it('returns an OperationOutcome if it is forbidden, as a guard does', async () => {
      expect(await call('acme/end', { as: 'forbidden' })).toMatchObject({
        status: 403,
        body: { resourceType: 'OperationOutcome', issue: [{ code: 'forbidden', diagnostics: 'Not yours' }] },
      });
    });

    it.each(['acme/unknown', '', 'constructor', 'toString'])('names the unknown method %j', async (method) => {
      expect(await call(method)).toMatchObject({
        status: 422,
        body: { error: { message: `Method ${method} not found` } },
      });
    });
  });

  it.each([
    ['svc/ecco', 'Method svc/ecco not found. Did you mean "svc/echo"?'],
    ['acme/prob', 'Method acme/prob not found. Did you mean "acme/probe"?'],
    [`acme/${'x'.repeat(200)}`, `Method acme/${'x'.repeat(95)} not found`],
  ])('suggests the nearest method for %s', async (method, message) => {
    expect(await call(method)).toMatchObject({ status: 422, body: { error: { message } } });
  });

  describe('a malformed call', () => {
    it.each(['{}', '{"params":{}}', '{"method":1}', '{"method":null}', '"svc/echo"', '17', 'true', 'null'])(
      'returns 400 for %s',
      async (body) => {
        expect(await send(body)).toMatchObject({
          status: 400,
          text: '{"error":{"message":"A call is an object with \\"method\\", a string, and \\"params\\".","type":"rpc-call-malformed"}}',
        });
      },
    );

    const inParams = (params: string): string => `{"method":"svc/echo","params":${params}}`;
    it.each([
      ['nothing', ''],
      ['no JSON', '{"method":'],
      ['a duplicate key', inParams('{"a":1,"\\u0061":2}')],
      ['__proto__', inParams('{"__proto__":{"isAdmin":true}}')],
      ['constructor', inParams('{"a":{"constructor":{}}}')],
      ['U+0000', inParams('{"a":"\\u0000"}')],
      ['half a surrogate pair', inParams('{"a":"\\ud83d"}')],
      ['a depth of 65', inParams('['.repeat(64) + ']'.repeat(64))],
      ['a depth of 100,000', '['.repeat(100_000)],
      ['a number of 41 digits', inParams(`{"a":${'1'.repeat(41)}}`)],
    ])('returns 400 for %s', async (_what, body) => {
      const { status, text } = await send(body);
      expect({ status, body: JSON.parse(text) as unknown }).toEqual({
        status: 400,
        body: { error: { message: expect.any(String), type: expect.stringMatching(/^body-/) } },
      });
    });

    it('returns 400 for bytes that are not UTF-8', async () => {
      expect(await send(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ status: 400 });
    });

    it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('returns 405 with Allow for %s', async (method) => {
      const response = await fetch(address, { method });
      expect({ status: response.status, allow: response.headers.get('allow'), body: await response.json() }).toEqual({
        status: 405,
        allow: 'POST',
        body: { error: { message: 'RPC methods are called with POST.', type: 'not-allowed' } },
      });
    });
  });

  describe('a batch', () => {
    it('returns a result or an error for each call, in order', async () => {
      const calls = `[${[
        '{"method":"svc/echo","params":{"digits":1.10}}',
        '{"method":"acme/unknown"}',
        '{"method":"acme/end","params":{"as":"bug"}}',
        '{"method":"acme/end","params":{"as":"forbidden"}}',
        '7',
        '{"method":"svc/echo","params":{"last":true}}',
      ].join(', ')}]`;
      expect(await send(calls)).toMatchObject({
        status: 200,
        text: `[${[
          '{"result":{"digits":1.10}}',
          '{"error":{"message":"Method acme/unknown not found","type":"rpc-method-unknown"}}',
          '{"error":{"message":"Internal error. Name this request id to the operator: request-7","type":"internal-error"}}',
          '{"error":{"message":"Not yours","type":"forbidden"}}',
          '{"error":{"message":"A call is an object with \\"method\\", a string, and \\"params\\".","type":"rpc-call-malformed"}}',
          '{"result":{"last":true}}',
        ].join(',')}]`,
      });
    });

    it('returns an empty list for an empty batch', async () => {
      expect(await send('[]')).toMatchObject({ status: 200, text: '[]' });
    });

    it('accepts 100 calls and no more', async () => {
      const batch = (size: number): Promise<{ status: number; text: string }> =>
        send(`[${Array<string>(size).fill('{"method":"svc/echo"}').join(',')}]`);
      expect(await batch(100)).toMatchObject({
        status: 200,
        text: `[${Array<string>(100).fill('{"result":{}}').join(',')}]`,
      });
      expect(await batch(101)).toMatchObject({
        status: 422,
        text: '{"error":{"message":"At most 100 calls go into one request.","type":"rpc-batch-too-large"}}',
      });
    });
  });
});

describe('@RpcMethod', () => {
  it('refuses to start if two methods have the same name', async () => {
    @Injectable()
    @RpcMethod({ method: 'svc/echo', description: 'Another one.' })
    class SecondEcho implements RpcHandler<object, string> {
      execute(): Promise<string> {
        return Promise.resolve('echo');
      }
    }
    await expect(startApp(SecondEcho)).rejects.toThrow('RpcRegistry: "svc/echo" is registered twice');
  });
});
