import fhirpath, { type Model } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { type Truth } from './compiled';

/** `trace()` would write resources to the log. */
const OPTIONS = { async: false, traceFn: () => undefined } as const;

/**
 * Evaluates a question with the FHIRPath library: any expression, some hundred times slower than a compiled one.
 * What it cannot evaluate is undefined.
 * @param base path of the element that the question is about, such as `Patient.contact`
 * @throws Error when the expression is no FHIRPath
 */
export function evaluateByLibrary(expression: string, base: string): Truth {
  const evaluate = fhirpath.compile({ base, expression }, r4 as Model, OPTIONS);
  return (focus, { resource, rootResource, context }) => {
    // The library may change what it is given.
    const variables = structuredClone({ resource, rootResource, context });
    try {
      const found = evaluate(structuredClone(focus), variables) as readonly unknown[];
      if (found.length !== 1) return undefined;
      return typeof found[0] === 'boolean' ? found[0] : true;
    } catch {
      return undefined;
    }
  };
}
