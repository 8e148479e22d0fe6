import { type Migration } from 'svc-health-server';

export const createHandOvers: Migration = {
  name: 'CreateHandOvers1795000000000',
  statements: [
    `create table acme_ward_hand_over (
      id bigint generated always as identity primary key,
      document_id text not null,
      ward text not null,
      handed_over_at timestamptz not null default now()
    )`,
    'create index acme_ward_hand_over_at_idx on acme_ward_hand_over (handed_over_at)',
  ],
};
