import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../platform/background/background';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { sweep, sweepOf } from '../platform/database/sweep';
import { newOpaqueToken, tokenHashOf } from './session-tokens.repository';
import { type LiveSession, liveSessionOf, type LiveSessionRow, liveSessionSql } from './sessions';

const LIFETIME_SECONDS = 60;

/** Maximum number of unused links of a Session. Beyond it, a new link replaces the oldest. */
const MOST_OF_SESSION = 100;

const ADD: Statement = {
  name: 'session-link-add',
  text: `with gone as (
      delete from session_link where token_hash in (
        select token_hash from session_link where session_id = $2 order by expires_at desc offset ${MOST_OF_SESSION - 1})
    ) insert into session_link (token_hash, session_id, target, expires_at)
    values ($1, $2, $3, clock_timestamp() + interval '${LIFETIME_SECONDS} seconds') returning expires_at as "expiresAt"`,
};

/** SQL that finds the Session that made the link, if it is still live. `link` is a table expression. */
const sessionBy = (link: string): string =>
  `${liveSessionSql(`${link} link join session_token t on t.session_id = link.session_id`)} limit 1`;

const LIVING = 'token_hash = $1 and target = $2 and expires_at > clock_timestamp()';

/**
 * Uses a link up ($1 hash of its token, $2 target). Of concurrent uses, only one deletes the row and so finds the
 * Session.
 */
const USE: Statement = {
  name: 'session-link-use',
  text: `with used as (delete from session_link where ${LIVING} returning session_id) ${sessionBy('used')}`,
};

const LOOK: Statement = {
  name: 'session-link-look',
  text: sessionBy(`(select session_id from session_link where ${LIVING})`),
};

const SWEEP = sweepOf('session-link-sweep', 'session_link', 'token_hash');

/** One-time links (ADR 0064). Until it is opened, a link gives the rights of its Session for one URL. */
@Injectable()
@Background({ task: 'sweep of links', interval: () => 60_000 })
export class SessionLinks implements BackgroundTask {
  constructor(private readonly statements: Statements) {}

  /** @param target the resource that the link is for, such as `SDCDocument/vitals-1` */
  async make(sessionId: string, target: string): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const token = newOpaqueToken();
    const row = await this.statements.runOne<{ expiresAt: Date }>(ADD, [tokenHashOf(token), sessionId, target]);
    if (row === undefined) throw new Error('A link was not stored');
    return { token, expiresAt: row.expiresAt };
  }

  /**
   * Returns the Session that made the link; undefined for an unknown, used or expired link, or an ended Session.
   * @param isUse whether this call uses the link up
   */
  async open(token: string, target: string, isUse: boolean): Promise<LiveSession | undefined> {
    const row = await this.statements.runOne<LiveSessionRow>(isUse ? USE : LOOK, [tokenHashOf(token), target]);
    return row === undefined ? undefined : liveSessionOf(row);
  }

  step(): Promise<number | undefined> {
    return sweep(this.statements, SWEEP);
  }
}
