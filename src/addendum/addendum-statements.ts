import { type Statement } from '../platform/database/statement';

/** Makes the row of a target or finds it, and holds it until the transaction ends. */
export const HOLD_TARGET: Statement = {
  name: 'addendum-hold-target',
  text: `insert into addendum_target (target_type, target_id, last_sequence) values ($1, $2, 0)
    on conflict (target_type, target_id) do update set last_sequence = addendum_target.last_sequence
    returning last_sequence`,
};

export const APPEND_ENTRY: Statement = {
  name: 'addendum-append-entry',
  text: `with target as (
      update addendum_target set last_sequence = last_sequence + 1 where target_type = $1 and target_id = $2 returning last_sequence
    )
    insert into addendum_entry (target_type, target_id, sequence, addendum_id, snapshot_digest)
    select $1, $2, last_sequence, $3, $4 from target`,
};

/** "The two latest" of the interface (rule 4): by sequence, never by date. */
export const LATEST_SNAPSHOTS: Statement = {
  name: 'addendum-latest-snapshots',
  text: `select addendum_id, snapshot_digest from addendum_entry
    where target_type = $1 and target_id = $2 and snapshot_digest is not null order by sequence desc limit 2`,
};
