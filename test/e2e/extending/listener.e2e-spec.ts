import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';
import { UnitOfWork } from '../../../src/platform/database/unit-of-work';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { ResourceModule } from '../../../src/resource/resource.module';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/**
 * A listener for changes of Flags. Its first answer to `concerns` is no, and all later ones are yes, as if another
 * request had stored a topic in between.
 */
@Injectable()
@OnResourceChange({ types: ['Flag'] })
class LateListener implements ResourceChangeListener {
  static asked = 0;
  static readonly seen: string[] = [];

  concerns(): Promise<boolean> {
    return Promise.resolve(LateListener.asked++ > 0);
  }

  onChange({ id }: ResourceChange): Promise<void> {
    LateListener.seen.push(id);
    return Promise.resolve();
  }
}

@Module({ providers: [LateListener] })
class LateModule {}

describe('a listener that becomes active during a create', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [LateModule] });
  });
  afterAll(() => app.close());

  it('is called for the next create, but not for that one, which has no transaction', async () => {
    const flag = { status: 'active', code: { text: 'late' }, subject: { reference: 'Patient/p' } };
    expect((await app.post('/fhir/Flag', flag)).status).toBe(201);
    expect(LateListener.seen).toEqual([]);
    const next = await app.post('/fhir/Flag', flag);
    expect(LateListener.seen).toEqual([next.json<{ id: string }>().id]);
  });
});

/** Two listeners of Basic: the first needs each change, the second loads data to decide whether it needs one. */
@Injectable()
@OnResourceChange({ types: ['Basic'] })
class EagerListener implements ResourceChangeListener {
  onChange(): Promise<void> {
    return Promise.resolve();
  }
}

@Injectable()
@OnResourceChange({ types: ['Basic'] })
class LoadingListener implements ResourceChangeListener {
  static readonly wasInTransaction: boolean[] = [];

  constructor(private readonly unitOfWork: UnitOfWork) {}

  concerns(): Promise<boolean> {
    LoadingListener.wasInTransaction.push(this.unitOfWork.isOpen);
    return Promise.resolve(true);
  }

  onChange(): Promise<void> {
    return Promise.resolve();
  }
}

@Module({ imports: [ResourceModule], providers: [EagerListener, LoadingListener] })
class LoadingModule {}

describe('a listener that loads data in `concerns`', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [LoadingModule] });
  });
  afterAll(() => app.close());

  it.each(['PUT', 'POST'])(
    'is called before the transaction of a %s, though another listener needs the change',
    async (method) => {
      LoadingListener.wasInTransaction.length = 0;
      const basic = { resourceType: 'Basic', code: { text: 'x' } };
      const answer = await (method === 'PUT'
        ? app.put('/fhir/Basic/b1', { ...basic, id: 'b1' })
        : app.post('/fhir/Basic', basic));
      expect([answer.status, LoadingListener.wasInTransaction[0]]).toEqual([201, false]);
    },
  );
});

/** A listener that throws at each close of a Session, like one that reads a missing resource. */
@Injectable()
@OnResourceChange({ types: ['Session'] })
class MissingListener implements ResourceChangeListener {
  onChange({ previous }: ResourceChange): Promise<void> {
    if (previous === undefined) return Promise.resolve();
    throw new ServiceError('resource-not-found', 'Resource Ward/w1 not found');
  }
}

@Module({ providers: [MissingListener] })
class MissingModule {}

describe('a listener of Sessions that throws because a resource is missing', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [MissingModule] });
  });
  afterAll(() => app.close());

  it('prevents the close of a Session, and the deletion of the Client that causes it', async () => {
    const client = { secret: 'secret', grant_types: ['client_credentials'] };
    expect((await app.put('/Client/machine', client)).status).toBe(201);
    const body = { grant_type: 'client_credentials', client_id: 'machine', client_secret: 'secret' };
    expect((await app.post('/auth/token', body, { authorization: null })).status).toBe(200);
    const { status, text } = await app.delete('/Client/machine');
    expect([status, text]).toEqual([404, expect.stringContaining('Ward/w1')]);
    expect((await app.get('/Client/machine')).status).toBe(200);
    const { entry } = (await app.get('/Session')).json<{ entry: { resource: { active: boolean } }[] }>();
    expect(entry.map(({ resource }) => resource.active)).toEqual([true]);
  });
});
