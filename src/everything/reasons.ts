import { type Compartment } from '../resource/compartment/compartments';

/** The extension of `Bundle.entry.search` that tells by which parameter of the compartment the entry belongs to the patient. */
export const REASON_URL = 'urn:svc:compartment-parameter';

/** Combinations of parameters are few; beyond these they are made anew each time. */
const MOST_REMEMBERED = 2_000;

/** Members of `search` that tell why an entry is there, by the ids of the parameters that link it. */
export class Reasons {
  private readonly known = new Map<string, string>();

  constructor(private readonly compartment: Compartment) {}

  /** @param parameters ids with commas between, 0 for the patient itself; `"extension":[…],` as JSON text */
  of(parameters: string): string {
    const known = this.known.get(parameters);
    if (known !== undefined) return known;
    const extension = this.codesOf(parameters).map((code) => ({ url: REASON_URL, valueCode: code }));
    const text = `"extension":${JSON.stringify(extension)},`;
    if (this.known.size < MOST_REMEMBERED) this.known.set(parameters, text);
    return text;
  }

  private codesOf(parameters: string): readonly string[] {
    const codes = parameters
      .split(',')
      .flatMap((id) => (id === '0' ? ['_id'] : (this.compartment.codesById.get(Number(id)) ?? [])));
    return [...new Set(codes)].sort();
  }
}
