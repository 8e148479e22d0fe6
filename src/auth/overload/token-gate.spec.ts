import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Request, type Response } from 'express';
import { TokenGate } from './token-gate';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Requests that come by a gate, each known by a name, that are worked on until they are told to end. */
class Requests {
  readonly admitted: string[] = [];
  readonly gate = new TokenGate();
  private readonly responses = new Map<string, Response>();
  private readonly ends = new Map<string, () => void>();

  arrive(ip: string, ...names: string[]): void {
    for (const name of names) {
      const response = { destroyed: false } as Response;
      this.responses.set(name, response);
      const request = { url: name.startsWith('/') ? name : '/auth/token', ip } as Request;
      this.gate.handler(request, response, () => {
        this.admitted.push(name);
        void this.gate.hold(response, () => new Promise<void>((resolve) => this.ends.set(name, resolve)));
      });
    }
  }

  responseOf(name: string): Response {
    const response = this.responses.get(name);
    if (response === undefined) throw new Error(`${name} has not come`);
    return response;
  }

  hangUp(name: string): void {
    this.responseOf(name).destroyed = true;
  }

  end(name: string): void {
    this.ends.get(name)?.();
  }
}

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

describe(TokenGate, () => {
  let requests: Requests;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    requests = new Requests();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const turns = async (count: number): Promise<void> => {
    for (let passed = 0; passed < count; passed++) await turn();
  };
  const milliseconds = async (count: number): Promise<void> => {
    for (let passed = 0; passed < count; passed++) {
      jest.advanceTimersByTime(1);
      await turn();
    }
  };

  it('lets one into each turn of the event loop, and holds up no other request', async () => {
    requests.arrive('a', 'a1', 'a2', '/fhir/Patient/p1');
    expect(requests.admitted).toEqual(['/fhir/Patient/p1']);
    await turns(1);
    expect(requests.admitted.slice(1)).toEqual(['a1']);
    await turns(1);
    expect(requests.admitted.slice(1)).toEqual(['a1', 'a2']);
  });

  it.each([
    ['2 ms when nobody else is served', 0, 2],
    ['5 ms when somebody else is', 99, 5],
    ['2 ms when that is a while ago', 100, 2],
  ])('lets one of a burst in each %s', async (_pace, agoMilliseconds, pause) => {
    if (agoMilliseconds > 0) requests.arrive('a', '/fhir/Patient/p1');
    await milliseconds(agoMilliseconds);
    requests.admitted.length = 0;
    requests.arrive('a', 'a0');
    await turns(1);
    requests.arrive('a', ...names('a', 12));
    await turns(3);
    expect(requests.admitted).toEqual(['a0', 'a1']);
    jest.advanceTimersByTime(pause - 1);
    expect(requests.admitted).toEqual(['a0', 'a1']);
    jest.advanceTimersByTime(1);
    expect(requests.admitted).toEqual(['a0', 'a1', 'a2']);
  });

  it('lets in 16 at a time, and addresses take turns', async () => {
    requests.arrive('flood', ...names('f', 100));
    requests.arrive('ward', 'w1', 'w2');
    await milliseconds(1_000);
    expect(requests.admitted).toEqual(['f1', 'w1', 'f2', 'w2', ...names('f', 14).slice(2)]);
    requests.arrive('ward', 'w3');
    requests.end('f1');
    requests.end('w1');
    requests.end('w1'); // gives one place, not two
    await milliseconds(1_000);
    expect(requests.admitted.slice(16)).toEqual(['f15', 'w3']);
  });

  it('lets another in for one that waits for something else', async () => {
    requests.arrive('a', ...names('a', 20));
    await milliseconds(100);
    expect(requests.admitted).toHaveLength(16);
    requests.gate.leave(requests.responseOf('a1'));
    requests.gate.leave(requests.responseOf('a1'));
    requests.end('a1');
    await milliseconds(100);
    expect(requests.admitted).toHaveLength(17);
  });

  it('leaves out who hung up meanwhile', async () => {
    requests.arrive('a', 'a1', 'a2', 'a3');
    requests.hangUp('a1');
    requests.hangUp('a2');
    await turns(1);
    expect(requests.admitted).toEqual(['a3']);
    requests.arrive('a', 'a4');
    requests.hangUp('a4');
    await turns(1);
    requests.arrive('a', 'a5');
    await turns(1);
    expect(requests.admitted).toEqual(['a3', 'a5']);
  });
});
