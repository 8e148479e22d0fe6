import { type Client } from 'pg';
import { type NativeReference } from '../../src/fhir/types';
import { DatabaseClient } from '../../src/platform/database/database-client';
import { FOUND_ADDENDUM, LINK_COLUMNS } from '../../src/addendum/chain/addendum-statements';
import {
  BREAKS,
  type ChainBreak,
  ChainCheck,
  headIn,
  hasLink,
  isOfOther,
  type LinkRow,
  type StoredLink,
} from '../../src/addendum/chain/chain-check';
import { type Head, isBefore } from './head-list';

/** A fault of the chain of a target. */
export interface Finding {
  readonly target: string;
  readonly sequence?: number;
  readonly addendum?: string;
  readonly reason: string;
  readonly message: string;
}

export interface Audit {
  readonly databaseUrl: string;
  /** Heads that were saved earlier, in order. */
  readonly since?: AsyncIterator<Head, void>;
  /** `begin` receives the number of links; `advance` is called for each. */
  readonly progress: { begin(total: number): void; advance(): void };
  readonly onHead: (head: Head) => Promise<void>;
  readonly onFinding: (finding: Finding) => void;
}

const ROWS_AT_ONCE = 500;

/**
 * The SQL that reads all links, each with the hash of its stored addendum, target by target. PostgreSQL computes the
 * hashes, so no text is transferred.
 */
const LINKS = `select target_type || '/' || target_id as target, target_type, target_id, ${LINK_COLUMNS}
  from addendum_target t full join addendum_entry e using (target_type, target_id)
  left join resource a on a.type = 'SDCAddendum' and a.id = e.addendum_id
  left join lateral (${FOUND_ADDENDUM}) r on true
  order by (target_type || '/' || target_id) collate "C", e.sequence`;

/** Addenda that no chain has, and addenda of which only an earlier version is stored. */
const UNLINKED = `select id, concat(body::json -> 'target' ->> 'resourceType', '/', body::json -> 'target' ->> 'id') as target from (
    select id, body from resource where type = 'SDCAddendum'
    union all select id, body from resource_history h where type = 'SDCAddendum'
      and not exists (select 1 from resource r where r.type = h.type and r.id = h.id)
  ) a where not exists (select 1 from addendum_entry e where e.addendum_id = a.id) order by id`;

interface AuditedRow extends LinkRow {
  readonly target: string;
  readonly target_type: string;
  readonly target_id: string;
}

/** Checks all chains in one snapshot, in constant memory. Returns the number of intact chains and links. */
export async function auditAddenda(audit: Audit): Promise<{ chains: number; links: number }> {
  const client = new DatabaseClient({ connectionString: audit.databaseUrl, application_name: 'audit-addenda' });
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const { rows } = await client.query<{ total: string }>('select count(*) as total from addendum_entry');
    audit.progress.begin(Number(rows[0]?.total));
    const chains = new ChainsInOrder(audit);
    for await (const row of rowsOf<AuditedRow>(client, LINKS)) await chains.take(row);
    await chains.finish();
    for await (const { id, target } of rowsOf<{ id: string; target: string }>(client, UNLINKED)) {
      audit.onFinding(findingOf(target, { reason: 'no-link', addendumId: id }));
    }
    return { chains: chains.intact, links: chains.links };
  } finally {
    await client.end();
  }
}

async function* rowsOf<Row extends object>(client: Client, sql: string): AsyncGenerator<Row, void, void> {
  await client.query(`declare audit no scroll cursor for ${sql}`);
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${ROWS_AT_ONCE} from audit`);
    if (rows.length === 0) break;
    yield* rows;
  }
  await client.query('close audit');
}

/** The chain being checked. */
interface Current {
  readonly target: string;
  readonly check: ChainCheck;
  readonly row: AuditedRow;
  readonly earlier: Head | undefined;
  broken: ChainBreak | undefined;
  /** Whether the check has passed the earlier head. */
  isMet: boolean;
}

/** Checks the links of one chain after another, against the heads saved earlier. */
class ChainsInOrder {
  intact = 0;
  links = 0;
  private current: Current | undefined;
  private earlier: IteratorResult<Head, void> | undefined;

  constructor(private readonly audit: Audit) {}

  async take(row: AuditedRow): Promise<void> {
    const current = this.current?.target === row.target ? this.current : await this.open(row);
    if (!hasLink(row)) return;
    this.audit.progress.advance();
    if (row.foundTarget !== null && isOfOther(current.check.target, row)) this.reportUnlinked(row);
    if (current.broken !== undefined) return;
    current.broken = current.check.take(row);
    const { earlier, check } = current;
    if (earlier?.length === check.length && earlier.head === check.head.toString('hex')) current.isMet = true;
  }

  /** Reports an addendum that another chain has than that of the target that it names. */
  private reportUnlinked({ foundTarget, addendumId }: StoredLink): void {
    const { resourceType = '', id = '' } = foundTarget as Partial<NativeReference>;
    this.audit.onFinding(findingOf(`${resourceType}/${id}`, { reason: 'no-link', addendumId }));
  }

  async finish(): Promise<void> {
    await this.close();
    await this.earlierOf(undefined);
  }

  private async open(row: AuditedRow): Promise<Current> {
    await this.close();
    const earlier = await this.earlierOf(row.target);
    const check = new ChainCheck({ resourceType: row.target_type, id: row.target_id });
    this.current = { target: row.target, check, row, earlier, broken: undefined, isMet: earlier === undefined };
    return this.current;
  }

  private async close(): Promise<void> {
    const { current } = this;
    if (current === undefined) return;
    const { target, check, row, earlier } = current;
    const broken = current.broken ?? check.finish(headIn(row));
    this.links += check.length;
    if (broken !== undefined) this.audit.onFinding(findingOf(target, broken));
    else if (!current.isMet && earlier !== undefined) this.audit.onFinding(otherThanKept(earlier, check.length));
    else {
      this.intact++;
      if (check.length > 0) await this.audit.onHead({ target, length: check.length, head: check.head.toString('hex') });
    }
  }

  /**
   * Reads the saved heads up to `target` and returns the head of `target`. Saved heads of targets that come before
   * `target` have no chain any more, so they are reported.
   */
  private async earlierOf(target: string | undefined): Promise<Head | undefined> {
    const { since } = this.audit;
    if (since === undefined) return undefined;
    this.earlier ??= await since.next();
    while (this.earlier.done !== true && (target === undefined || isBefore(this.earlier.value.target, target))) {
      this.audit.onFinding(otherThanKept(this.earlier.value, 0));
      this.earlier = await since.next();
    }
    if (this.earlier.done === true || this.earlier.value.target !== target) return undefined;
    const found = this.earlier.value;
    this.earlier = await since.next();
    return found;
  }
}

const findingOf = (target: string, { reason, sequence, addendumId }: ChainBreak): Finding => ({
  target,
  ...(sequence === undefined ? {} : { sequence }),
  ...(addendumId === undefined ? {} : { addendum: addendumId }),
  reason,
  message: BREAKS[reason],
});

const otherThanKept = ({ target, length }: Head, found: number): Finding =>
  found < length
    ? {
        target,
        sequence: found + 1,
        reason: 'cut-off',
        message: `The chain had ${length} links when its head was kept, and has ${found} now.`,
      }
    : {
        target,
        sequence: length,
        reason: 'made-anew',
        message: `Link ${length} is another one than when its head was kept: the chain was made anew.`,
      };
