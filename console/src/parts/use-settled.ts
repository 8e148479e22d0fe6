import { useEffect, useState } from 'react';

const SETTLE_MILLISECONDS = 250;

/** A text once it did not change for a moment: no request for each letter. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(text);
    }, SETTLE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return settled;
}
