import { useEffect, useState } from 'react';

const SETTLE_MILLISECONDS = 250;

/**
 * A value after it has not changed for a moment, so that not every letter causes a request.
 * @param value a value that stays the same object while nothing changes
 */
export function useSettled<Value>(value: Value, milliseconds = SETTLE_MILLISECONDS): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
