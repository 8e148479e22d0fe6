/**
 * An error that ends the start of the server, with a message for the person who starts it. The message says everything,
 * so no stack is shown.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
