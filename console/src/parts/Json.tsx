import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactElement, useMemo, useRef } from 'react';
import { Copy } from './Copy';
import { linesOf, spansOf } from './json-lines';
import css from './json.module.css';

interface Props {
  /** A value, or its JSON text as the server sent it. */
  readonly value: unknown;
  readonly label: string;
  /** Maximum height in lines; longer values scroll. */
  readonly maxLines?: number;
}

const LINE_HEIGHT = 19;

/** JSON of any size: only visible lines are rendered. */
export function Json({ value, label, maxLines = 24 }: Props): ReactElement {
  const lines = useMemo(() => linesOf(value), [value]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div className={css.json}>
      <div className={css.copy}>
        <Copy text={() => lines.join('\n')} />
      </div>
      <div
        className={css.lines}
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ height: Math.min(lines.length, maxLines) * LINE_HEIGHT + 20 }}
      >
        <div style={{ height: virtual.getTotalSize() }} className={css.inner}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <div key={index} className={css.line} style={{ transform: `translateY(${start}px)` }}>
              {spansOf(lines[index] ?? '').map(({ text, kind }, at) => (
                <span key={at} className={kind === 'plain' ? undefined : css[kind]}>
                  {text}
                </span>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
