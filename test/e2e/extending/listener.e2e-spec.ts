import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';
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

describe('a listener that gets concerned while a create is under way', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [LateModule] });
  });
  afterAll(() => app.close());

  it('is not told of that create, which has no transaction, but of the next one', async () => {
    const flag = { status: 'active', code: { text: 'late' }, subject: { reference: 'Patient/p' } };
    expect((await app.post('/fhir/Flag', flag)).status).toBe(201);
    expect(LateListener.seen).toEqual([]);
    const next = await app.post('/fhir/Flag', flag);
    expect(LateListener.seen).toEqual([next.json<{ id: string }>().id]);
  });
});
