import type { Connection } from './connection.js';
import type { Schemas } from './types.js';

/**
 * Closes Sessions by their ids. For Sessions of other Users, the caller needs a policy. `client.search('Session', {
 * active: true })` lists Sessions.
 */
export class Sessions {
  constructor(private readonly connection: Connection) {}

  /** Closes a Session. The server then refuses its tokens. */
  close(id: string): Promise<Schemas['Session']> {
    return this.connection.json('PATCH', `/fhir/Session/${encodeURIComponent(id)}`, {
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { active: false },
    });
  }
}
