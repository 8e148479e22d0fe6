import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withChanges } from '../support/changed-code';
import { DEFECTS, type Defect, type Stage } from '../support/delivery-defects';
import { DeliveryBed } from '../support/delivery-bed';

/** The server and the destination of a scenario. */
async function stageOf(bed: DeliveryBed, { timeoutSeconds = 30 }: Defect, settings = {}): Promise<Stage> {
  const server = await bed.onlyServer(settings);
  await bed.renew(server);
  await server.makeDestination({ parameter: [{ name: 'timeout', valueUnsignedInt: timeoutSeconds }] });
  return {
    ...{ bed, server, startAnother: () => bed.start(settings) },
    ...{ patienceMilliseconds: 15_000, silenceMilliseconds: 1000 },
  };
}

/** Mutation tests of the delivery specs: each defect is built into a server, and its scenario must fail. */
describe('The delivery specs', () => {
  it.concurrent.each(DEFECTS.map((defect) => [defect.name, defect] as const))(
    'detect the defect: %s',
    async (_name, defect) => {
      const bed = await DeliveryBed.open();
      try {
        const stage = await stageOf(bed, defect, withChanges(defect));
        const patience = { patienceMilliseconds: 4000, silenceMilliseconds: 4000 };
        await expect(defect.scenario({ ...stage, ...patience })).rejects.toThrow(defect.noticedBy);
      } finally {
        await bed.close();
      }
    },
  );
});

describe('The unchanged server', () => {
  const byScenario = new Map(DEFECTS.map((defect) => [defect.scenario.name, defect]));
  let bed: DeliveryBed;

  beforeAll(async () => {
    bed = await DeliveryBed.open();
  });
  afterAll(() => bed.close());

  it.each([...byScenario])('passes the scenario "%s"', async (_name, defect) => {
    await defect.scenario(await stageOf(bed, defect));
  });
});
