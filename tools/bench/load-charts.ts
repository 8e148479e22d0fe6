import { inParallel } from '../demo/in-parallel';
import { ProgressBar } from '../progress-bar';
import { type Target } from './bench-case';
import { CHARTS } from './bench-data';
import { CONCURRENCY, LoadClient } from './load-client';

/**
 * Stores the charts of the bench's patients. The resources of one chart are stored in sequence, since a server may
 * refuse references to missing resources.
 * @throws Error with the first resource that was refused.
 */
export async function loadCharts(target: Target): Promise<void> {
  const client = new LoadClient(target);
  const total = CHARTS.reduce((sum, { entries }) => sum + entries.length, 0);
  const progress = new ProgressBar({ label: 'load charts'.padEnd(20), total });
  try {
    await inParallel(CHARTS, CONCURRENCY, async ({ entries }) => {
      for (const { resourceType, id, body } of entries) {
        const { status } = await client.send({ method: 'PUT', path: `/${resourceType}/${id}`, body });
        if (status !== 200 && status !== 201) throw new Error(`PUT ${resourceType}/${id} was answered with ${status}`);
        progress.advance();
      }
    });
  } finally {
    client.close();
  }
}
