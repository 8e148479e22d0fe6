import { indexConcurrently, type Migration } from '../migration';

/**
 * Indexes that find versions by the transaction that wrote them, for the feed of changes (`_txid`, ADR 0040). An
 * operator may have built them before.
 */
export const indexVersionsByTransaction: Migration = {
  name: 'IndexVersionsByTransaction1795000000120',
  isApart: true,
  statements: [
    ...indexConcurrently('resource_transaction_id_idx', 'resource (type, transaction_id)'),
    ...indexConcurrently('resource_history_transaction_id_idx', 'resource_history (type, transaction_id)'),
  ],
};
