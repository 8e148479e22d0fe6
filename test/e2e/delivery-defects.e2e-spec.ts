import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFECTS, type Defect, type Stage, compileDefect } from '../support/delivery-defects';
import { DeliveryBed } from '../support/delivery-bed';

let bed: DeliveryBed;

beforeEach(async () => {
  bed = await DeliveryBed.open();
});
afterEach(() => bed.close());

async function stageOf({ timeoutSeconds = 30 }: Defect, patienceMilliseconds: number, folder?: string): Promise<Stage> {
  const startAnother: Stage['startAnother'] = () => bed.start({}, folder);
  const server = await startAnother();
  await server.makeDestination({ parameter: [{ name: 'timeout', valueUnsignedInt: timeoutSeconds }] });
  return { bed, server, startAnother, patienceMilliseconds };
}

/** The specs of delivery are worth what they notice: mistakes are made in copies of the server, each with its scenario. */
describe('A defect is noticed', () => {
  it.each(DEFECTS.map((defect) => [defect.name, defect] as const))(
    '%s',
    async (_name, defect) => {
      const compiled = await compileDefect(defect);
      try {
        const stage = await stageOf(defect, 4000, compiled.folder);
        await expect(defect.scenario(stage)).rejects.toThrow();
      } finally {
        await compiled.remove();
      }
    },
    60_000,
  );
});

describe('The server as it is passes', () => {
  const byScenario = new Map(DEFECTS.map((defect) => [defect.scenario.name, defect]));

  it.each([...byScenario])(
    '%s',
    async (_name, defect) => {
      await defect.scenario(await stageOf(defect, 15_000));
    },
    60_000,
  );
});
