import { type Statement } from '../../platform/database/statement';

/**
 * The next addenda of a target as they are stored now: up to $5 bytes of text, one at least, none behind the sequence number $4.
 * The body is null where an addendum is gone.
 */
export const READ_RECORD: Statement = {
  name: 'addendum-read-record',
  text: `select sequence, addendum_id, snapshot_digest is not null as is_snapshot, body from (
      select e.*, r.body, row_number() over (order by e.sequence) as place,
        sum(coalesce(octet_length(r.body), 0)) over (order by e.sequence) as bytes
      from (
        select * from addendum_entry where target_type = $1 and target_id = $2 and sequence > $3 and sequence <= $4
        order by sequence limit 200
      ) e left join resource r on r.type = 'SDCAddendum' and r.id = e.addendum_id
    ) page where place = 1 or bytes <= $5 order by sequence`,
};
