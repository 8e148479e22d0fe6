import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';

/** State that is kept while its page is closed. It is only in memory, and is cleared at sign-out. */
export function useKept<Value>(name: string, initial: Value): readonly [Value, (value: Value) => void] {
  const queries = useQueryClient();
  const [value, setValue] = useState(() => queries.getQueryData<Value>(['kept', name]) ?? initial);
  const keep = useCallback(
    (next: Value) => {
      queries.setQueryDefaults(['kept'], { gcTime: Infinity });
      queries.setQueryData(['kept', name], next);
      setValue(next);
    },
    [queries, name],
  );
  return [value, keep];
}
