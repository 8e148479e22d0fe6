/**
 * An attempt failed. The message is shown in `$status`, so it holds no URL, no header value and nothing of the answer's
 * body.
 */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';

  constructor(
    message: string,
    /** The least time that the receiver asks for. */
    readonly retryAfterSeconds = 0,
  ) {
    super(message);
  }
}
