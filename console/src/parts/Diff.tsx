import { type ReactElement } from 'react';
import css from './diff.module.css';

export interface Change {
  /** The path of the field, such as `component.0.valueQuantity.value`. */
  readonly path: string;
  /** The value before the change; absent for an added field. */
  readonly old?: string;
  /** The value after the change; absent for a removed field. */
  readonly new?: string;
}

/** A table of changes, one row per field: old → new. */
export function Diff({
  changes,
  label,
}: {
  readonly changes: readonly Change[];
  readonly label: string;
}): ReactElement {
  return (
    <table className={css.diff}>
      <caption className="hidden">{label}</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ path, old, new: now }) => (
          <tr key={path}>
            <th scope="row">
              <code>{path}</code>
            </th>
            <td>{old === undefined ? <span className="faint">not there</span> : <del>{old}</del>}</td>
            <td>{now === undefined ? <span className="faint">removed</span> : <ins>{now}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
