import { type ReactElement, useEffect, useState } from 'react';
import { indented } from '../../parts/body/body';
import { Json } from '../../parts/Json';
import { Waiting } from '../../parts/Waiting';

/** The text of a resource in lines, made in slices, so that 5 MB do not block the page. */
export function JsonView({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const [lines, setLines] = useState<string>();
  useEffect(() => {
    const abort = new AbortController();
    setLines(undefined);
    indented(text, abort.signal).then(setLines, () => undefined);
    return () => abort.abort();
  }, [text]);
  return lines === undefined ? <Waiting what="the JSON" /> : <Json value={lines} label={label} maxLines={32} />;
}
