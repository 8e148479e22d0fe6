import { type ReactElement } from 'react';
import { type ServerStatus } from 'svc-health-client';
import { duration, rate, whole } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';
import { type Counter, type Span } from './samples';
import css from './overview.module.css';

interface Props {
  readonly status: ServerStatus;
  readonly span: Span;
}

const time = (seconds: number | undefined): string => (seconds === undefined ? '–' : duration(seconds));

/** Requests by class: rate and times of the window, refusals and failures since the start. */
export function RequestsPanel({ status, span }: Props): ReactElement {
  // The rows are in the order of the server, which is by name. Rows that change places could not be read.
  const rows = status.requests;
  const counterOf =
    (name: string): Counter =>
    ({ requests }) =>
      requests.find((one) => one.class === name)?.count ?? 0;
  return (
    <Panel title="Requests by class" className={css.requestsPanel}>
      {rows.length === 0 ? (
        <p className="faint">No request since the start.</p>
      ) : (
        <div className={css.scroll} tabIndex={0} role="region" aria-label="Table of the classes">
          <table className={css.figures}>
            <thead>
              <tr>
                <th scope="col">Class</th>
                <th scope="col">Per second</th>
                <th scope="col" className={css.wide}>
                  p50
                </th>
                <th scope="col">p95</th>
                <th scope="col" className={css.wide}>
                  In all
                </th>
                <th scope="col">4xx</th>
                <th scope="col">5xx</th>
                <th scope="col" className={css.wide}>
                  Cut off
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ class: name, count, refused, failed, cut }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{rate((span.grown(counterOf(name)) ?? 0) / span.seconds)}</td>
                  <td className={css.wide}>{time(span.quantile(0.5, name))}</td>
                  <td>{time(span.quantile(0.95, name))}</td>
                  <td className={css.wide}>{whole(count)}</td>
                  <td>{whole(refused)}</td>
                  <td className={failed > 0 ? css.bad : undefined}>{whole(failed)}</td>
                  <td className={css.wide}>{whole(cut)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="fine">
        Rates and times are those of {span.isSinceStart ? 'all requests' : `the latest ${Math.round(span.seconds)} s`}.
        Counts are those since the start of the server that answered. “Cut off” were not sent whole, as a rule because
        the caller left.
      </p>
    </Panel>
  );
}
