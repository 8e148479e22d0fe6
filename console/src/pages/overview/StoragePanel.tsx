import { type ReactElement } from 'react';
import { type ServerStatus } from 'svc-health-client';
import { bytes, short } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';
import { Time } from '../../parts/Time';
import css from './overview.module.css';

/** Storage: the most frequent types, and the largest tables. */
export function StoragePanel({ status: { storage } }: { readonly status: ServerStatus }): ReactElement | null {
  if (storage === undefined) return null;
  const { table: tables = [], resources = [] } = storage;
  const types = [...resources].sort((one, other) => other.count - one.count).slice(0, 10);
  return (
    <Panel
      title="Storage"
      actions={
        <span className="fine">
          {bytes(storage.bytes)}, as of <Time value={storage.timestamp} as="clock" />
        </span>
      }
    >
      <Bars
        label="Resources, estimated"
        rows={types.map(({ type, count }) => ({ name: type, size: count, text: short(count) }))}
      />
      <details className={css.tables}>
        <summary>Tables of the database</summary>
        <Bars
          label="Largest tables"
          rows={tables.slice(0, 10).map((one) => ({
            name: one.name,
            size: one.bytes,
            text: `${bytes(one.bytes)}${one.rows === undefined ? '' : ` · ${short(one.rows)} rows`}`,
          }))}
        />
      </details>
    </Panel>
  );
}

interface Bar {
  readonly name: string;
  readonly size: number;
  readonly text: string;
}

function Bars({ label, rows }: { readonly label: string; readonly rows: readonly Bar[] }): ReactElement {
  const most = Math.max(1, ...rows.map(({ size }) => size));
  return (
    <div>
      <h3>{label}</h3>
      {rows.length === 0 && <p className="faint">Nothing is stored yet.</p>}
      <ul className={css.bars}>
        {rows.map(({ name, size, text }) => (
          <li key={name}>
            <span className={css.barName}>{name}</span>
            <span className={css.barText}>{text}</span>
            <span className={css.bar} aria-hidden="true">
              <span style={{ width: `${Math.max(1, (size / most) * 100)}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
