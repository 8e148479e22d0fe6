/**
 * A failed attempt. `$status` shows the message, so it contains no URL, no header value and nothing of the response
 * body.
 * @example
 * throw new DeliveryFailure('The pager does not answer', 60);
 */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';

  constructor(
    message: string,
    /** The minimum pause that the receiver requests. */
    readonly retryAfterSeconds = 0,
  ) {
    super(message);
  }
}
