/**
 * A failed attempt. `$status` shows the message, so it contains no URL, no header value and nothing of the response
 * body.
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
