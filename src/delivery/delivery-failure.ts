/**
 * The error of a failed attempt. `$status` shows its message, so the message contains no URL, no header value and
 * nothing of the response body.
 * @example
 * throw new DeliveryFailure('The pager does not answer', 60);
 */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';

  constructor(
    message: string,
    /** The minimum pause before the next attempt, as the receiver requests it. */
    readonly retryAfterSeconds = 0,
  ) {
    super(message);
  }
}
