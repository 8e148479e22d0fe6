import { type ReactElement, type ReactNode, useMemo, useState } from 'react';
import { Badge } from '../../parts/Badge';
import { Fact } from '../../parts/Fact';
import { Check } from '../../parts/Field';
import { Json } from '../../parts/Json';
import { milliseconds } from './milliseconds';
import { namedParts, parametersIn, planOf, type PlanNode, walk } from './plan';
import { type Explanation } from './run-search';
import css from './search.module.css';

/** How PostgreSQL executed the search: a tree of nodes with their times, and actual rows against estimates. */
export function PlanView({ explanation }: { readonly explanation: Explanation }): ReactElement {
  const { plan: stated, parameters, advice } = explanation;
  const plan = useMemo(() => planOf(stated), [stated]);
  const [isAll, setIsAll] = useState(false);
  if (plan === undefined) return <Json value={stated} label="Plan" />;
  const nodes = [...walk(plan.root)];
  const off = nodes.filter(({ misestimate }) => misestimate !== undefined).length;
  const dearest = nodes.find(({ id }) => id === plan.dearest);
  const never = nodes.filter(({ isNeverRun }) => isNeverRun).length;
  const whole = nodes.reduce((sum, { own = 0 }) => sum + own, 0);
  return (
    <div className="stack">
      <dl className={css.planFacts}>
        <Fact name="Executed in">{plan.executionTime && milliseconds(plan.executionTime)}</Fact>
        <Fact name="Planned in">{plan.planningTime && milliseconds(plan.planningTime)}</Fact>
        <Fact name="Most expensive">
          {dearest?.own !== undefined && `${dearest.title}, ${milliseconds(dearest.own)}`}
        </Fact>
        <Fact name="Estimates">{off === 0 ? 'within ten times of the rows' : `${off} off by more than ten times`}</Fact>
      </dl>
      {advice.length > 0 && (
        <div className="banner">
          <ul className={css.advice}>
            {advice.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </div>
      )}
      {parameters.length > 0 && (
        <p className="fine">
          Search parameters in the plan:{' '}
          {parameters.map(({ id, name }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <code className={css.parameter}>{name}</code>
            </span>
          ))}
        </p>
      )}
      <div className={css.plan} role="region" aria-label="Plan" tabIndex={0}>
        <div className={`${css.planRow} ${css.planHead}`} aria-hidden="true">
          <span>Node</span>
          <span>Share</span>
          <span className={css.end}>Own time</span>
          <span className={css.end}>With below</span>
          <span className={css.end}>Rows</span>
          <span className={css.end}>Estimate</span>
        </div>
        <ul>
          <Node node={plan.root} depth={0} dearest={plan.dearest} whole={whole} parameters={parameters} isAll={isAll} />
        </ul>
      </div>
      {never > 0 && (
        <Check isOn={isAll} onSwitch={setIsAll}>
          Show the {never === 1 ? 'node' : `${never} nodes`} that never ran{' '}
          <span className="fine">(prepared for other amounts of rows)</span>
        </Check>
      )}
    </div>
  );
}

interface NodeProps {
  readonly node: PlanNode;
  readonly depth: number;
  readonly dearest: string | undefined;
  /** The sum of the times of all nodes. */
  readonly whole: number;
  readonly parameters: Explanation['parameters'];
  /** Whether nodes that never ran are shown. */
  readonly isAll: boolean;
}

function Node({ node, depth, isAll, ...same }: NodeProps): ReactElement {
  const { dearest, whole, parameters } = same;
  const children = isAll ? node.children : node.children.filter(({ isNeverRun }) => !isNeverRun);
  const { title, subplan, index, details, own, total, loops, actualRows, estimatedRows, buffers } = node;
  const share = own === undefined || whole === 0 ? 0 : own / whole;
  return (
    <li>
      <details className={node.isNeverRun ? `${css.planNode} ${css.never}` : css.planNode}>
        <summary className={css.planRow}>
          <span className={css.planTitle} style={{ paddingInlineStart: depth * 14 }}>
            <span className={css.planName}>
              {subplan !== undefined && <span className="faint">{subplan}: </span>}
              {title}
            </span>
            <span className={css.planMarks}>
              {index !== undefined && <Badge tone="accent">{index}</Badge>}
              {parametersIn(node, parameters).map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
              {node.id === dearest && <Badge tone="bad">most expensive</Badge>}
              {node.misestimate !== undefined && (
                <Badge tone="warn">
                  {times(node.misestimate.factor)} {node.misestimate.isMore ? 'more' : 'fewer'} rows than estimated
                </Badge>
              )}
              {node.isNeverRun && <Badge>never run</Badge>}
            </span>
          </span>
          <span className={css.planBar} aria-hidden="true">
            {share > 0.005 && <span style={{ width: `${Math.max(2, share * 100)}%` }} />}
          </span>
          <Cell label="Own time">{own === undefined || node.isNeverRun ? '' : milliseconds(own)}</Cell>
          <Cell label="With below">{total === undefined || node.isNeverRun ? '' : milliseconds(total)}</Cell>
          <Cell label="Rows">
            {actualRows === undefined || node.isNeverRun ? (
              ''
            ) : (
              <>
                {rowsOf(actualRows)}
                {loops !== undefined && loops > 1 && <span className="faint"> × {loops.toLocaleString('en')}</span>}
              </>
            )}
          </Cell>
          <Cell label="Estimate">{rowsOf(estimatedRows)}</Cell>
        </summary>
        <dl className={css.planDetails} style={{ paddingInlineStart: 24 + depth * 14 }}>
          {details.map(({ label, text }) => (
            <Fact key={label} name={label}>
              <code>
                {namedParts(text, parameters).map((part, at) =>
                  part.isName ? (
                    <mark key={at} className={css.parameter}>
                      {part.text}
                    </mark>
                  ) : (
                    <span key={at}>{part.text}</span>
                  ),
                )}
              </code>
            </Fact>
          ))}
          {node.isCutShort && <Fact name="Rows">fewer than estimated, since the Limit above needed no more</Fact>}
          {buffers !== undefined && (
            <Fact name="Pages">
              {buffers.hit.toLocaleString('en')} in memory, {buffers.read.toLocaleString('en')} read
            </Fact>
          )}
        </dl>
      </details>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Node key={child.id} node={child} depth={depth + 1} isAll={isAll} {...same} />
          ))}
        </ul>
      )}
    </li>
  );
}

const Cell = ({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactElement => (
  <span className={`${css.planCell} ${css.end} ${children === '' ? css.none : ''}`}>
    <span className={css.planLabel}>{label} </span>
    {children}
  </span>
);

const rowsOf = (rows: number): string => rows.toLocaleString('en', { maximumFractionDigits: 1 });
const times = (factor: number): string => `${Math.round(factor).toLocaleString('en')}×`;
