/** Stops the start with a message for the person who starts the server: it says all, so no stack is shown. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
