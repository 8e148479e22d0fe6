import { type Statement } from '../../platform/database/statement';

/*
 * The statements of this file look up each addendum by type and id. `limit 1` keeps PostgreSQL from using a join. The
 * type is a parameter, not a literal. With a literal, old statistics may estimate one row of that type, and then an
 * index on the type alone looks equally good. The connection caches that plan, which later reads all addenda of the
 * server for each addendum of the target.
 */

/** Creates or finds the row of a target, and locks it until the transaction ends. */
export const HOLD_TARGET: Statement = {
  name: 'addendum-hold-target',
  text: `insert into addendum_target (target_type, target_id, last_sequence) values ($1, $2, 0)
    on conflict (target_type, target_id) do update set last_sequence = addendum_target.last_sequence
    returning last_sequence`,
};

/** Like {@link HOLD_TARGET}, but if the target has no addenda, it creates no row, locks nothing and returns no row. */
export const HOLD_RECORD: Statement = {
  name: 'addendum-hold-record',
  text: 'select last_sequence from addendum_target where target_type = $1 and target_id = $2 for update',
};

/** Appends a link to the chain of a locked target. SQL computes its hash, since it has the previous one. */
export const APPEND_ENTRY: Statement = {
  name: 'addendum-append-entry',
  text: `with target as (
      update addendum_target set last_sequence = last_sequence + 1, head_hash = sha256(convert_to(concat(
        'svc-addendum-link-1', chr(10), encode(head_hash, 'hex'), chr(10), last_sequence + 1, chr(10),
        target_type, '/', target_id, chr(10), $3::text, chr(10), encode($5::bytea, 'hex'), chr(10),
        coalesce(encode($4::bytea, 'hex'), '-'), chr(10)), 'UTF8'))
      where target_type = $1 and target_id = $2 returning last_sequence, head_hash
    )
    insert into addendum_entry (target_type, target_id, sequence, addendum_id, snapshot_digest, text_hash, link_hash)
    select $1, $2, last_sequence, $3, $4, $5, head_hash from target`,
};

/** Finds "the two latest" snapshots of the interface specification (rule 4): by sequence, never by date. */
export const LATEST_SNAPSHOTS: Statement = {
  name: 'addendum-latest-snapshots',
  text: `select addendum_id as "addendumId", snapshot_digest as digest from addendum_entry
    where target_type = $1 and target_id = $2 and snapshot_digest is not null order by sequence desc limit 2`,
};

/** The columns of a `LinkRow`, from the aliases `t` (target), `e` (entry) and `r` ({@link FOUND_ADDENDUM}). */
export const LINK_COLUMNS = `t.last_sequence as "lastSequence", t.head_hash as "headHash", e.sequence, e.addendum_id as "addendumId",
      e.snapshot_digest as "snapshotDigest", e.text_hash as "textHash", e.link_hash as "linkHash",
      r.hash as "foundTextHash", r.target as "foundTarget", r."isOnlyVersion"`;

const STRING = String.raw`"[^"\\]*"`;
const MEMBER = `${STRING}:${STRING}`;
/** The beginning of a stored addendum up to its target, as this server writes it: `Addenda.add`. */
const UP_TO_TARGET = String.raw`^\{${MEMBER},${MEMBER},"meta":\{[^{}]*\},${MEMBER},"target":(\{${MEMBER}(?:,${MEMBER})*\})`;

/**
 * Reads the stored addendum `a` of the entry `e`. A changed text may be no JSON, so only the recorded text is parsed.
 * PostgreSQL parses 5 MB in 100 ms, so the target of a long text is read from its beginning where possible; a short
 * text is parsed faster than matched. `offset 0` lets PostgreSQL hash the text once.
 */
export const FOUND_ADDENDUM = `select found.hash, case when found.hash = e.text_hash then coalesce(
          case when octet_length(a.body) > 10000 then substring(left(a.body, 1000) from '${UP_TO_TARGET}')::json end,
          a.body::json -> 'target') end as target,
        a.version = 1 and not exists (select 1 from resource_history h where h.type = 'SDCAddendum' and h.id = a.id) as "isOnlyVersion"
      from (select sha256(convert_to(a.body, 'UTF8')) as hash offset 0) found`;

/**
 * Reads at most $4 links of one target after a sequence number ($3). Each row has the hash of the text that is stored
 * now, and the recorded length and head of the chain. At the end of the chain there is one row without a link. Links
 * and head come from one snapshot of the database.
 */
export const READ_LINKS: Statement = {
  name: 'addendum-read-links',
  text: `select ${LINK_COLUMNS}
    from (select $1::text as target_type, $2::text as target_id) asked
    left join addendum_target t on t.target_type = asked.target_type and t.target_id = asked.target_id
    left join lateral (
      select * from addendum_entry e
      where e.target_type = asked.target_type and e.target_id = asked.target_id and e.sequence > $3 order by e.sequence limit $4
    ) e on true
    left join lateral (select id, version, body from resource where type = $5 and id = e.addendum_id limit 1) a on true
    left join lateral (${FOUND_ADDENDUM}) r on true
    order by e.sequence`,
};

/**
 * Reads the addenda of a target after sequence number $3, up to $4, as they are stored now: at most $5 bytes of text,
 * but at least one addendum. The text of a missing addendum is null.
 */
export const READ_ENTRIES: Statement = {
  name: 'addendum-read-entries',
  text: `select sequence, addendum_id as "addendumId", snapshot_digest is not null as "isSnapshot", body as text,
      sequence = (select max(sequence) from addendum_entry where target_type = $1 and target_id = $2 and sequence <= $4) as "isLast"
    from (
      select e.*, r.body, row_number() over (order by e.sequence) as place,
        sum(coalesce(octet_length(r.body), 0)) over (order by e.sequence) as bytes
      from (
        select * from addendum_entry where target_type = $1 and target_id = $2 and sequence > $3 and sequence <= $4
        order by sequence limit 200
      ) e left join lateral (select body from resource where type = $6 and id = e.addendum_id limit 1) r on true
    ) page where place = 1 or bytes <= $5 order by sequence`,
};

/**
 * Finds an addendum that names the target ($2, $3) but has no link in its chain. $1 is the hash of the reference to the
 * target. An addendum of another target may also refer to this one in its content, so its own target decides. Only its
 * recorded text is parsed: a changed text may be no JSON, and the check of the other chain reports it. The entry is
 * looked up by the addendum alone: a lookup by target would read the whole chain for each addendum.
 */
export const FIND_UNLINKED: Statement = {
  name: 'addendum-find-unlinked',
  text: `select r.id from reference_link l
    cross join lateral (select type, id, body from resource where resource_key = l.resource_key limit 1) r
    left join lateral (select target_type, target_id, text_hash from addendum_entry where addendum_id = r.id limit 1) e on true
    where l.target_hash = $1 and r.type = 'SDCAddendum' and case
      when e.target_type is null then true
      when e.target_type = $2 and e.target_id = $3 or sha256(convert_to(r.body, 'UTF8')) <> e.text_hash then false
      else r.body::json -> 'target' ->> 'resourceType' = $2 and r.body::json -> 'target' ->> 'id' = $3 end
    order by r.id limit 1`,
};
