import { type ReactElement, useEffect, useState } from 'react';

/** A wait that is shorter than this shows nothing, so that quick responses do not flicker. */
const QUIET_MILLISECONDS = 250;
const SLOW_SECONDS = 5;

/** Shows that a response is pending; after a while, also for how long. */
export function Waiting({ what = 'the answer' }: { readonly what?: string }): ReactElement {
  const [seconds, setSeconds] = useState<number>();
  useEffect(() => {
    const began = Date.now();
    const first = setTimeout(() => {
      setSeconds(0);
    }, QUIET_MILLISECONDS);
    const timer = setInterval(() => {
      setSeconds(Math.floor((Date.now() - began) / 1000));
    }, 1000);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
    };
  }, []);
  return (
    <div className="waiting" role="status" aria-busy="true">
      {seconds !== undefined && (
        <>
          <span className="pulse" aria-hidden="true" />
          {seconds < SLOW_SECONDS
            ? `Waiting for ${what}…`
            : `The server is slow: waiting for ${what} for ${seconds} s…`}
        </>
      )}
    </div>
  );
}
