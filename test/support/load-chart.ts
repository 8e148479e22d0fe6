import { type GeneratedChart, generateChart } from '../../tools/chart/chart-generator';
import { type TestApp } from '../../testing/test-app';

/** A resource of a generated chart, as it was sent. */
export interface Loaded {
  readonly resourceType: string;
  readonly id: string;
  readonly text: string;
  readonly value: Record<string, unknown>;
  readonly inPatientCompartment: boolean;
}

export interface LoadedChart {
  readonly patientId: string;
  readonly resources: readonly Loaded[];
}

/** Writes a generated chart by PUT, one resource after the other. Returns the sent resources, the oracle of a spec. */
export async function loadChart(
  app: TestApp,
  options: { seed: number; size: number; idPrefix?: string },
): Promise<LoadedChart> {
  const chart: GeneratedChart = generateChart(options);
  const resources: Loaded[] = [];
  for (const { resourceType, id, body, inPatientCompartment } of chart.entries) {
    const { status, text } = await app.put(`/fhir/${resourceType}/${id}`, body);
    if (status !== 201) throw new Error(`${resourceType}/${id} was answered with ${status}: ${text}`);
    resources.push({
      resourceType,
      id,
      text: body,
      value: JSON.parse(body) as Record<string, unknown>,
      inPatientCompartment,
    });
  }
  return { patientId: chart.patientId, resources };
}
