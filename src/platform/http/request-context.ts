import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { type IsolationLevel } from '../database/isolation-level';
import { type Caller } from './caller';

interface RequestState {
  readonly requestId: string;
  caller?: Caller;
  registryEpoch?: number;
  isolationLevel?: IsolationLevel;
}

/** What belongs to the request that is being answered; empty in background work. */
@Injectable()
export class RequestContext {
  private readonly storage = new AsyncLocalStorage<RequestState>();

  run<T>(requestId: string, work: () => T): T {
    return this.storage.run({ requestId }, work);
  }

  get requestId(): string | undefined {
    return this.storage.getStore()?.requestId;
  }

  get caller(): Caller | undefined {
    return this.storage.getStore()?.caller;
  }

  /** The registry epoch that was read with the caller's Session, at the beginning of the request. */
  get registryEpoch(): number | undefined {
    return this.storage.getStore()?.registryEpoch;
  }

  identify(caller: Caller, registryEpoch: number): void {
    const state = this.storage.getStore();
    if (state !== undefined) Object.assign(state, { caller, registryEpoch });
  }

  /** What the request asks its transactions to be opened at; undefined where it asks for nothing. */
  get isolationLevel(): IsolationLevel | undefined {
    return this.storage.getStore()?.isolationLevel;
  }

  isolate(isolationLevel: IsolationLevel): void {
    const state = this.storage.getStore();
    if (state !== undefined) Object.assign(state, { isolationLevel });
  }
}
