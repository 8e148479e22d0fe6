import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { quietTurn } from './quiet-turn';
import { TurnPace } from './turn-pace';

const CONNECTIONS = 100;
const SLICE_MILLISECONDS = 2;

describe('S10: connections that arrive while each iteration of the event loop has work', () => {
  let accepted = 0;
  const server = createServer(() => accepted++);
  const sockets: Socket[] = [];

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  const work = (): void => {
    const end = performance.now() + SLICE_MILLISECONDS;
    while (performance.now() < end);
  };

  it('are accepted within a few time slices', async () => {
    const { port } = server.address() as AddressInfo;
    for (let n = 0; n < CONNECTIONS; n++) sockets.push(connect(port, '127.0.0.1'));
    let slices = 0;
    for (; accepted < CONNECTIONS; slices++) {
      await quietTurn();
      work();
    }
    expect(slices).toBeLessThan(CONNECTIONS / 4);
  });

  it('delay the next task of a pace by one iteration', async () => {
    const pace = new TurnPace(2);
    const { port } = server.address() as AddressInfo;
    sockets.push(connect(port, '127.0.0.1'));
    await once(server, 'connection');
    const turn = pace.turnFor(() => ({ caller: 'a' }));
    expect(turn).toBeInstanceOf(Promise);
    await turn;
    expect(pace.turnFor(() => ({ caller: 'a' }))).toBeUndefined();
  });

  it('do not delay the work forever', async () => {
    let isOver = false;
    server.on('connection', (socket) => {
      socket.destroy();
      if (!isOver) again();
    });
    const again = (): void => {
      const { port } = server.address() as AddressInfo;
      sockets.push(connect(port, '127.0.0.1').on('error', () => undefined));
    };
    for (let n = 0; n < 20; n++) again();
    const startedAt = performance.now();
    for (let n = 0; n < 5; n++) await quietTurn();
    isOver = true;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
