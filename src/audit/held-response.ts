import { type ServerResponse } from 'node:http';

/**
 * Delays a response until `before` settles. Writes are buffered until then, and nothing is sent, not even the head.
 * @param isHeld called when the response begins; if it returns false, the response is sent without delay
 * @param onFailure called if `before` failed; sends another response
 */
export function holdAnswer(
  response: ServerResponse,
  isHeld: () => boolean,
  before: () => Promise<void>,
  onFailure: (error: unknown) => void,
): void {
  const write = response.write.bind(response) as (...given: unknown[]) => boolean;
  const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
  let waiting: (() => unknown)[] | undefined;
  const restore = (): void => {
    Object.assign(response, { write, end });
  };
  const hold = (call: () => unknown): void => {
    if (waiting !== undefined) {
      waiting.push(call);
      return;
    }
    const calls = [call];
    waiting = calls;
    before().then(
      () => {
        restore();
        for (const held of calls) held();
        response.emit('drain');
      },
      (error: unknown) => {
        restore();
        onFailure(error);
      },
    );
  };
  const begin = (): boolean => {
    if (waiting !== undefined || isHeld()) return true;
    restore();
    return false;
  };
  Object.assign(response, {
    write: (...given: unknown[]): boolean => {
      if (!begin()) return write(...given);
      hold(() => write(...given));
      return false;
    },
    end: (...given: unknown[]): ServerResponse => {
      if (!begin()) return end(...given);
      hold(() => end(...given));
      return response;
    },
  });
}
