/**
 * Stops the start with a message for the person who starts the server. The message is complete, so no stack is shown.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
