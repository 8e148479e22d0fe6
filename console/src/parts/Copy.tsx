import { type ReactElement, useEffect, useState } from 'react';

const SHOWN_MILLISECONDS = 2000;

/**
 * Copies a text to the clipboard. If the browser forbids that (plain http from another machine), the button says so.
 */
export function Copy({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}): ReactElement {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => {
      setSaid(undefined);
    }, SHOWN_MILLISECONDS);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setSaid('Copied');
    } catch {
      setSaid('The browser forbids it');
    }
  };
  return (
    <button type="button" className="button quiet small" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
