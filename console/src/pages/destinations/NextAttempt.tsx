import { type ReactElement, useEffect, useState } from 'react';

/** Counts down to the next attempt. */
export function NextAttempt({ at }: { readonly at: string }): ReactElement {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((Date.parse(at) - now) / 1000);
  return <>{seconds > 0 ? `The next attempt starts in ${seconds} s by itself.` : 'An attempt is under way.'}</>;
}
