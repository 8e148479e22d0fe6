import { once, setMaxListeners } from 'node:events';
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

/**
 * Computes password hashes in worker threads, one thread per running task; `HashSlots` limits how many tasks run.
 * libuv's pool is not used, because DNS lookups and file access would queue there behind logins. A running task keeps
 * its thread until it ends, even when its client disconnects.
 */
@Injectable()
export class HashThreads implements OnApplicationShutdown {
  private readonly threads = new Set<Worker>();
  private readonly idle = new Set<Worker>();
  private readonly stop = new AbortController();

  constructor() {
    setMaxListeners(0, this.stop.signal);
  }

  /** @throws ServiceError 'busy' while the server stops */
  async run(task: HashTask): Promise<HashResult> {
    const { signal } = this.stop;
    if (signal.aborted) throw new ServiceError('busy', 'The server stops. Try again.', { retryAfterSeconds: 1 });
    const [worker = this.startThread()] = this.idle;
    this.idle.delete(worker);
    worker.ref();
    worker.postMessage(task);
    // Rejects if the thread fails; the next task then starts a new thread.
    const [answer] = (await once(worker, 'message', { signal })) as [ThreadAnswer];
    worker.unref();
    this.idle.add(worker);
    if ('result' in answer) return answer.result;
    throw new Error(`A password hash failed: ${answer.failure}`);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await Promise.all([...this.threads].map((worker) => worker.terminate()));
  }

  private startThread(): Worker {
    const worker = new Worker(assetPath('auth/hashing/hash-thread.cjs'));
    this.threads.add(worker);
    worker.on('exit', () => {
      this.threads.delete(worker);
      this.idle.delete(worker);
    });
    return worker;
  }
}
