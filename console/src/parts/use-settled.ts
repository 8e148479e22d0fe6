import { useEffect, useState } from 'react';

const SETTLE_MILLISECONDS = 250;

/** A text after it has not changed for a moment, so that not every letter causes a request. */
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
