import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * The feed of changes (`_txid`) finds versions by the transaction that wrote them (ADR 0040). `if not exists`: an operator
 * with large tables may have built the indexes concurrently beforehand.
 */
export class IndexVersionsByTransaction1795000000120 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index if not exists resource_transaction_id_idx on resource (type, transaction_id)');
    await runner.query(
      'create index if not exists resource_history_transaction_id_idx on resource_history (type, transaction_id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index resource_transaction_id_idx, resource_history_transaction_id_idx');
  }
}
