import type { Connection } from './connection.js';
import type { Schemas } from './types.js';

/** Sessions by their ids. Those of others need a policy; `client.search('Session', { active: true })` lists them. */
export class Sessions {
  constructor(private readonly connection: Connection) {}

  /** Closes a Session: its tokens are refused from then on. */
  close(id: string): Promise<Schemas['Session']> {
    return this.connection.json('PATCH', `/fhir/Session/${encodeURIComponent(id)}`, {
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { active: false },
    });
  }
}
