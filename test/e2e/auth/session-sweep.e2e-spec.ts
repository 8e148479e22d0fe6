import { Injectable, Module } from '@nestjs/common';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** Keeps the Sessions of one Client. */
@Injectable()
@OnResourceChange({ types: ['Session'] })
class KeptSessions implements ResourceChangeListener {
  onChange({ interaction, previous }: ResourceChange): Promise<void> {
    const client = previous?.value.client as { readonly id: string } | undefined;
    if (interaction === 'delete' && client?.id === 'kept') throw new ServiceError('conflict', 'This Session is kept.');
    return Promise.resolve();
  }
}

@Module({ providers: [KeptSessions] })
class KeptSessionsModule {}

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({ modules: [KeptSessionsModule] });
});
afterAll(() => app.close());

it('the sweep deletes old Sessions even if a module vetoes the deletion of one', async () => {
  const database = await app.connect();
  const endedDaysAgo = async (clientId: string, days: number): Promise<string> => {
    await app.put(`/Client/${clientId}`, { secret: 'secret', grant_types: ['client_credentials'] });
    const asked = { grant_type: 'client_credentials', client_id: clientId, client_secret: 'secret' };
    const { access_token: token } = (await app.post('/auth/token', asked, { authorization: null })).json<{
      access_token: string;
    }>();
    const { id } = (await app.delete('/Session', { authorization: `Bearer ${token}` })).json<{ id: string }>();
    await database.query(
      `update session_token set closed_at = clock_timestamp() - make_interval(days => $2::int) where session_id = $1`,
      [id, days],
    );
    return id;
  };
  const kept = await endedDaysAgo('kept', 92);
  const other = await endedDaysAgo('other', 91);
  await app.app.get(BackgroundTasks).wake('sweep of Sessions');
  expect([(await app.get(`/Session/${kept}`)).status, (await app.get(`/Session/${other}`)).status]).toEqual([200, 410]);
});
