import { compileLocations, ExpressionError, type LocationStep, NotAllowed } from '../../fhirpath/fhirpath';
import { malformed, excerpt, unfit } from './tree-patch';

/**
 * The path from the resource to one of its elements; empty for the resource itself. The step to a choice has its JSON
 * name, possibly without the type (`value` for `valueQuantity`).
 */
export type ElementLocation = readonly LocationStep[];

/** A FHIRPath that selects elements of the patched resource. */
export interface ElementPath {
  readonly text: string;
  /**
   * Finds the elements that the path selects.
   * @param resource plain values, with rounded numbers
   * @throws ServiceError 'unprocessable' if the path yields anything else than elements
   */
  find(resource: unknown): readonly ElementLocation[];
}

/**
 * Compiles a path.
 * @throws ServiceError 'invalid' for invalid FHIRPath, 'unprocessable' for a function that patches may not use
 */
export function compileElementPath(text: string): ElementPath {
  const locate = locatorOf(text);
  return {
    text,
    find: (resource) => {
      const found = new Map<string, ElementLocation>();
      for (const location of located(() => locate(resource), text)) {
        if (location === undefined) throw unfit(`The path "${excerpt(text)}" yields no elements of the resource.`);
        found.set(JSON.stringify(location), location);
      }
      return [...found.values()];
    },
  };
}

function locatorOf(text: string): ReturnType<typeof compileLocations> {
  try {
    return compileLocations(text);
  } catch (error) {
    if (error instanceof NotAllowed) throw unfit(`The path "${excerpt(text)}" cannot be used: ${error.message}.`);
    if (error instanceof ExpressionError) throw malformed(`"${excerpt(text)}" is no FHIRPath: ${error.message}.`);
    throw error;
  }
}

function located<T>(find: () => T, text: string): T {
  try {
    return find();
  } catch (error) {
    // The error of a time limit comes from another JavaScript realm, so it is no `Error` of this one.
    if (!(error instanceof Error)) throw error;
    throw unfit(`The path "${excerpt(text)}" cannot be evaluated on the resource.`);
  }
}
