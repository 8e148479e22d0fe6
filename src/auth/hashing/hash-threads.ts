import { Worker } from 'node:worker_threads';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { assetPath } from '../../platform/assets';
import { ServiceError } from '../../platform/errors/service-error';
import { type ScryptHash } from './password-format';

/** A task for a hash thread. The password in it is already normalized. */
export type HashTask =
  | { readonly kind: 'hash'; readonly password: string; readonly parameters: object }
  | { readonly kind: 'argon2id'; readonly password: string; readonly stored: string }
  | ({ readonly password: string } & ScryptHash);

type HashResult = string | boolean;
type ThreadAnswer = { readonly result: HashResult } | { readonly failure: string };

interface Job {
  readonly resolve: (result: HashResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Computes password hashes in worker threads, one thread per running task; `HashSlots` limits how many tasks run.
 * libuv's pool is not used, because DNS lookups and file access would queue there behind logins. A running task keeps
 * its thread until it ends, even when its client disconnects.
 */
@Injectable()
export class HashThreads implements OnApplicationShutdown {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job>();
  private isStopped = false;

  /** @throws ServiceError 'busy' while the server stops */
  run(task: HashTask): Promise<HashResult> {
    if (this.isStopped) throw new ServiceError('busy', 'The server stops. Try again.', { retryAfterSeconds: 1 });
    const worker = this.idle.pop() ?? this.startThread();
    return new Promise((resolve, reject) => {
      this.busy.set(worker, { resolve, reject });
      worker.ref();
      worker.postMessage(task);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.idle.splice(0), ...this.busy.keys()].map((worker) => worker.terminate()));
  }

  private startThread(): Worker {
    const worker = new Worker(assetPath('auth/hashing/hash-thread.cjs'));
    worker.on('message', (answer: ThreadAnswer) => {
      const job = this.busy.get(worker);
      this.busy.delete(worker);
      worker.unref();
      this.idle.push(worker);
      if ('result' in answer) job?.resolve(answer.result);
      else job?.reject(new Error(`A password hash failed: ${answer.failure}`));
    });
    let cause: Error | undefined;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.forget(worker, cause);
    });
    return worker;
  }

  /** Rejects the task of a thread that ended. The next task starts a new thread. */
  private forget(worker: Worker, cause: Error | undefined): void {
    const job = this.busy.get(worker);
    this.busy.delete(worker);
    const place = this.idle.indexOf(worker);
    if (place !== -1) this.idle.splice(place, 1);
    job?.reject(new Error('A thread that computes password hashes ended', { cause }));
  }
}
