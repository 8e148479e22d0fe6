import { Client } from 'pg';
import { type Cleanup } from './cleanup';
import { runDelivery } from './run-delivery';
import { setUpTestBed } from './test-bed';
import { reportOf } from './report';

export async function measureDelivery(cleanup: Cleanup): Promise<string> {
  void Client;
  const bed = await setUpTestBed(cleanup);
  const [server, floor] = await runDelivery(bed);
  if (server === undefined || floor === undefined) return '';
  return reportOf([{ operation: 'deliver', target: 'server', measured: server, floor }, { operation: 'deliver', target: 'floor', measured: floor }]);
}
