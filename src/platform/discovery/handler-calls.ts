/** Names of providers and their modules, for the log and for errors at the start. */
const names = new WeakMap<object, string>();

export function nameHandler(handler: object, module: string | undefined): void {
  names.set(handler, `${handler.constructor.name} of ${module ?? 'an unknown module'}`);
}

/** Returns the class and module of a provider, such as `HandOver of WardModule`. */
export const handlerNameOf = (handler: object): string => names.get(handler) ?? handler.constructor.name;

/**
 * Runs a method of a provider of any module. If the method fails and the stack has no frame of the provider's code, the
 * thrown error names the provider. The log shows that error, and the caller gets an internal error.
 * @param isWell returns whether the method may return this value
 */
export async function callHandler<T>(
  handler: object,
  work: () => T | Promise<T>,
  isWell: (value: T) => boolean = () => true,
): Promise<T> {
  let value: T;
  try {
    value = await work();
  } catch (error) {
    throw error instanceof Error
      ? error
      : new Error(`${handlerNameOf(handler)} threw what is no Error: ${typeof error}`);
  }
  if (!isWell(value)) throw new Error(`${handlerNameOf(handler)} returned a malformed value`);
  return value;
}
