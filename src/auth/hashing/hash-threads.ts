import { Worker } from 'node:worker_threads';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { assetPath } from '../../platform/assets';
import { Environment } from '../../platform/config/environment';
import { type ScryptHash } from './password-format';
import { tooManyLogins } from './too-many-logins';

/** What a hash thread does with a password, which is UTF-8 and normalised. */
export type HashTask =
  | { readonly kind: 'hash'; readonly password: string; readonly parameters: object }
  | { readonly kind: 'argon2id'; readonly password: string; readonly stored: string }
  | ({ readonly password: string } & ScryptHash);

type HashResult = string | boolean;
type ThreadAnswer = { readonly result: HashResult } | { readonly failure: string };

interface Job {
  readonly task: HashTask;
  readonly resolve: (result: HashResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Computes password hashes in threads of its own, a bounded number with a bounded queue. Not in libuv's pool: DNS
 * look-ups and files would wait behind logins there. A task that began keeps its thread to the end, whoever hangs up.
 */
@Injectable()
export class HashThreads implements OnApplicationShutdown {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job>();
  private readonly waiting: Job[] = [];
  private started = 0;

  constructor(private readonly environment: Environment) {}

  /** How many tasks were begun since the start: what specs and operators count. */
  get startedTasks(): number {
    return this.started;
  }

  /** @throws ServiceError 'busy' when threads and queue are full. */
  run(task: HashTask): Promise<HashResult> {
    const { passwordHashSlots, passwordHashQueue } = this.environment;
    return new Promise((resolve, reject) => {
      const job = { task, resolve, reject };
      const worker = this.idle.pop() ?? (this.busy.size < passwordHashSlots ? this.startThread() : undefined);
      if (worker !== undefined) this.begin(worker, job);
      else if (this.waiting.length < passwordHashQueue) this.waiting.push(job);
      else reject(tooManyLogins());
    });
  }

  async onApplicationShutdown(): Promise<void> {
    for (const { reject } of this.waiting.splice(0)) reject(tooManyLogins());
    await Promise.all([...this.idle.splice(0), ...this.busy.keys()].map((worker) => worker.terminate()));
  }

  private startThread(): Worker {
    const worker = new Worker(assetPath('auth/hashing/hash-thread.cjs'));
    worker.on('message', (answer: ThreadAnswer) => {
      const job = this.busy.get(worker);
      this.busy.delete(worker);
      worker.unref();
      const next = this.waiting.shift();
      if (next === undefined) this.idle.push(worker);
      else this.begin(worker, next);
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

  private begin(worker: Worker, job: Job): void {
    this.busy.set(worker, job);
    this.started++;
    worker.ref();
    worker.postMessage(job.task);
  }

  /** A thread ended: its task fails, and a new thread takes what waits. */
  private forget(worker: Worker, cause: Error | undefined): void {
    const job = this.busy.get(worker);
    this.busy.delete(worker);
    const place = this.idle.indexOf(worker);
    if (place !== -1) this.idle.splice(place, 1);
    job?.reject(new Error('A thread that computes password hashes ended', { cause }));
    const next = this.waiting.shift();
    if (next !== undefined) this.begin(this.startThread(), next);
  }
}
