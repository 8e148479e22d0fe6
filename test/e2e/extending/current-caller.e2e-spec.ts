import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { startTestApp, type TestApp, world } from 'svc-health-server/testing';
import {
  type Caller,
  CurrentCaller,
  type FhirAnswer,
  OnResourceChange,
  Operation,
  OperationId,
  type OperationHandler,
  PublicRoute,
  type ResourceChange,
  type ResourceChangeListener,
  ResourceModule,
  TokenIsEnough,
} from '../../../src/index';

/** The caller of each change that the listener received. */
const seen: (Caller | undefined)[] = [];

@Controller('acme')
class WhoController {
  constructor(private readonly current: CurrentCaller) {}

  @Get('who')
  @OperationId('AcmeWho')
  @TokenIsEnough()
  who(): object {
    return { caller: this.current.caller };
  }

  @Get('anyone')
  @OperationId('AcmeAnyone')
  @PublicRoute()
  anyone(): object {
    return { caller: this.current.caller ?? null };
  }
}

@Injectable()
@Operation({ resourceType: 'Basic', code: 'who', level: 'type', methods: ['GET'], description: 'Names the caller.' })
class WhoOperation implements OperationHandler {
  constructor(private readonly current: CurrentCaller) {}

  execute(): Promise<FhirAnswer> {
    const { userId } = this.current.caller ?? {};
    const parameter = [{ name: 'user', valueString: userId }];
    return Promise.resolve({ status: 200, text: JSON.stringify({ resourceType: 'Parameters', parameter }) });
  }
}

@Injectable()
@OnResourceChange({ types: ['Basic'] })
class WhoListener implements ResourceChangeListener {
  constructor(private readonly current: CurrentCaller) {}

  onChanges(changes: readonly ResourceChange[]): Promise<void> {
    seen.push(...changes.map(() => this.current.caller));
    return Promise.resolve();
  }
}

@Module({ imports: [ResourceModule], controllers: [WhoController], providers: [WhoOperation, WhoListener] })
class WhoModule {}

describe('a module that reads the caller', () => {
  let app: TestApp;
  let authorization: string;

  beforeAll(async () => {
    app = await startTestApp({ modules: [WhoModule] });
    authorization = (await world(app, { people: { nurse: {} } })).nurse.bearer;
  });
  afterAll(() => app.close());

  const nurse: unknown = expect.objectContaining({ userId: 'nurse', clientId: 'client-of-nurse' });

  it('gets the User and the Client in routes and operations', async () => {
    expect((await app.get('/acme/who', { authorization })).json()).toEqual({ caller: nurse });
    expect((await app.get('/acme/who')).json()).toEqual({ caller: { clientId: 'root' } });
    expect((await app.get('/fhir/Basic/$who', { authorization })).json()).toMatchObject({
      parameter: [{ valueString: 'nurse' }],
    });
  });

  it('gets no caller on a public route without credentials', async () => {
    expect(await (await fetch(`${app.url}/acme/anyone`)).json()).toEqual({ caller: null });
  });

  it('gets the same caller in the listeners of a write and of each entry of a batch', async () => {
    seen.length = 0;
    const basic = { resourceType: 'Basic', code: { text: 'who' } };
    const entry = { request: { method: 'POST', url: 'Basic' }, resource: basic };
    await app.post('/fhir/Basic', basic, { authorization });
    await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry: [entry, entry] }, { authorization });
    expect(seen).toEqual([nurse, nurse, nurse]);
  });
});
