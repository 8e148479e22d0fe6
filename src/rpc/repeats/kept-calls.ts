import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../platform/background/background';
import { pipelined } from '../../platform/database/pipelined';
import { Statements } from '../../platform/database/statements';
import { sweep } from '../../platform/database/sweep';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { JsonParts } from '../../platform/json/json-parts';
import { JsonText, jsonTextOf } from '../../platform/json/json-text';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { ResultById } from '../rpc-method';
import { RpcRefusal } from '../rpc-refusal';
import { FIND_CALL, FORGET_OLDEST, KEEP_CALL, LOCK_CALL, SWEEP_CALLS } from './kept-call-statements';

/** Maximum size of a kept result. The row of a call with a longer result is stored without the result. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Calls, on average, between two counts of the rows of a caller: a count reads all of them. */
const CALLS_PER_COUNT = 100;

export interface CallKey {
  /** The value of the header `Idempotency-Key`. */
  readonly key: string;
  /** The index of the call in its batch; 0 for a single call. */
  readonly index: number;
}

interface KeptRow {
  readonly digest: Buffer;
  readonly kept: string | null;
}

/**
 * Runs a call with an `Idempotency-Key` once, in one transaction with the row that records it (ADR 0061). A late sweep
 * of expired rows is harmless, since they are ignored.
 */
@Injectable()
@Background({ task: 'sweep of kept RPC calls', interval: () => 60_000 })
export class KeptCalls implements BackgroundTask {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Runs a call, or returns its kept result if the call ran before.
   * @param repeat returns the result of a repeat, from the kept result
   * @throws RpcRefusal if the key belongs to a different call, while the first call with this key is running, or if its
   * result was not kept; any error of the call
   */
  once(
    { key, index }: CallKey,
    callText: string,
    execute: () => Promise<unknown>,
    repeat: (kept: JsonText) => Promise<unknown>,
  ): Promise<unknown> {
    const { userId = '', clientId = '' }: Partial<Caller> = this.requests.caller ?? {};
    const callHash = sha256(JSON.stringify([userId, clientId, key, index]));
    const digest = sha256(callText);
    return this.unitOfWork.run(async () => {
      const found = await this.find(callHash);
      if (found === undefined) {
        const result = await execute();
        const caller = `${userId} ${clientId}`;
        await this.statements.run(KEEP_CALL, [callHash, digest, caller, keptTextOf(result)]);
        if (Math.random() * CALLS_PER_COUNT < 1)
          this.unitOfWork.afterCommit(() => this.statements.run(FORGET_OLDEST, [caller]));
        return result;
      }
      if (!found.digest.equals(digest)) throw usedBefore();
      if (found.kept === null) throw notKept();
      return repeat(new JsonText(found.kept));
    });
  }

  step(): Promise<number | undefined> {
    return sweep(this.statements, SWEEP_CALLS);
  }

  /**
   * Locks the key of a call until the transaction ends, and then finds its row. The row is read after the lock is
   * taken, since the first call may have ended just before.
   */
  private async find(callHash: Buffer): Promise<KeptRow | undefined> {
    const [[lock], [row]] = await pipelined([
      this.statements.run<{ is_mine: boolean }>(LOCK_CALL, [String(callHash.readBigInt64BE())]),
      this.statements.run<KeptRow>(FIND_CALL, [callHash]),
    ]);
    if (lock?.is_mine !== true) throw stillRunning();
    return row;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

function keptTextOf(result: unknown): string | null {
  if (result instanceof ResultById) return JSON.stringify(result.id);
  if (result instanceof JsonParts) return null;
  const text = jsonTextOf(result);
  return Buffer.byteLength(text) > MAX_KEPT_BYTES ? null : text;
}

const stillRunning = (): RpcRefusal =>
  new RpcRefusal(
    'A call with this Idempotency-Key is running. Repeat it later for its result.',
    { code: 'idempotency-key-running', type: 'rpc.error/running' },
    'conflict',
    { retryAfterSeconds: 1 },
  );

const usedBefore = (): RpcRefusal =>
  new RpcRefusal(
    'This Idempotency-Key was sent with another call. Send a new key with each call, and the same key with its repeats.',
    { code: 'idempotency-key-reused', type: 'rpc.error/key-reused' },
  );

const notKept = (): RpcRefusal =>
  new RpcRefusal(
    `The call with this Idempotency-Key was carried out. Its result is longer than ${MAX_KEPT_BYTES} bytes and is not kept: read what it stored.`,
    { code: 'idempotency-result-not-kept', type: 'rpc.error/result-not-kept' },
  );
