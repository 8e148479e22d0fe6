import { type ReactElement } from 'react';
import css from './diff.module.css';

export interface Change {
  /** `component.0.valueQuantity.value`. */
  readonly path: string;
  /** Missing where it was added. */
  readonly old?: string;
  /** Missing where it was removed. */
  readonly new?: string;
}

/** The changes, a row for each field: old → new. */
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
