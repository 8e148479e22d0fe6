import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId, useMemo, useState } from 'react';
import { type SvcClient } from 'svc-health-client';
import { membersOf } from '../../../../src/platform/json/json-members';
import { useSession } from '../../app/session';
import { type FieldRow, valuesOf } from '../../parts/body/body';
import { FieldTable } from '../../parts/body/FieldTable';
import { Fault } from '../../parts/Fault';
import { Check } from '../../parts/Field';
import { type NameOf, referenceText } from '../../parts/names';
import { stampOf, zonedStampOf } from '../../parts/times';
import { Waiting } from '../../parts/Waiting';
import { Addenda, Addendum } from './Addenda';
import { mergedRows, unplaced } from './merged-rows';
import { type AddendumAnswer, isComment, type Stop } from './record';
import { Status } from './Status';
import { Who } from './Who';
import css from './documents.module.css';

interface Target {
  readonly resourceType: 'SDCDocument' | 'SDCWorkflow';
  readonly id: string;
}

interface Props {
  readonly target: Target;
  readonly stops: readonly Stop[];
  /** Addenda from before the first signature. */
  readonly before: readonly AddendumAnswer[];
  /** The selected position, from 1. */
  readonly selected: number;
  readonly onSelect: (stop: number) => void;
  readonly nameOf: NameOf;
}

/** The content of the document at each signature: a slider, and the fields of the selected revision with changes. */
export function Revisions({ target, stops, before, selected, onSelect, nameOf }: Props): ReactElement {
  const stop = stops[selected - 1];
  const [onlyChanges, setOnlyChanges] = useState(false);
  const isFirst = selected === 1;
  const comments = useMemo(
    () => [...(isFirst ? before : []), ...(stop?.addenda ?? [])].filter(isComment),
    [isFirst, before, stop],
  );
  if (stop === undefined) return <></>;
  return (
    <section className={`panel ${css.revisions}`} aria-label="Revisions">
      <Slider stops={stops} selected={selected} onSelect={onSelect} nameOf={nameOf} />
      <div className={css.revisionHead}>
        <div>
          <h2>{titleOf(stop)}</h2>
          <p className="row">
            {stop.revision.status !== undefined && <Status status={stop.revision.status} />}
            {stop.kind === 'revision' ? (
              <>
                <span className="faint">signed by</span>
                <Who addendum={stop.revision} nameOf={nameOf} />
              </>
            ) : (
              <span className="faint">changed by writes that nobody signed</span>
            )}
          </p>
        </div>
        {!isFirst && (
          <Check isOn={onlyChanges} onSwitch={setOnlyChanges}>
            Only what changed
          </Check>
        )}
      </div>
      <Fields
        key={selected}
        target={target}
        stop={stop}
        comments={comments}
        onlyChanges={onlyChanges && !isFirst}
        nameOf={nameOf}
      />
      {isFirst && before.some((one) => !isComment(one)) && (
        <Addenda title="Before the first signature" addenda={before.filter((one) => !isComment(one))} nameOf={nameOf} />
      )}
      <Later stop={stop} nameOf={nameOf} />
    </section>
  );
}

const titleOf = ({ kind, number }: Stop): string =>
  kind === 'revision' ? `Revision ${number}` : `Not signed: changes since revision ${number}`;

function sayingOf(stop: Stop, nameOf: NameOf): string {
  const { status, user, date } = stop.revision;
  const who = user === undefined ? '' : `, ${nameOf(user)}`;
  return `${titleOf(stop)}${status === undefined ? '' : `, ${status}`}${who}${date === undefined ? '' : `, ${zonedStampOf(new Date(date))}`}`;
}

interface SliderProps {
  readonly stops: readonly Stop[];
  readonly selected: number;
  readonly onSelect: (stop: number) => void;
  readonly nameOf: NameOf;
}

/** The maximum number of positions with names. With more positions there is no room for names. */
const STOPS_AT_ONCE = 5;

/** A native range input: arrow keys move by one revision, Home and End to the first and last. */
function Slider({ stops, selected, onSelect, nameOf }: SliderProps): ReactElement {
  const id = useId();
  const stop = stops[selected - 1];
  if (stops.length < 2 || stop === undefined)
    return <p className="fine">There is one signed content; an amendment makes the next revision.</p>;
  const [first, last] = [stops[0], stops.at(-1)];
  return (
    <div className={css.slider}>
      <label htmlFor={id}>
        Show the document as of revision <strong>{selected}</strong> of {stops.length}
      </label>
      <div className={css.sliderRow}>
        <button
          type="button"
          className="button icon"
          aria-label="Earlier revision"
          disabled={selected === 1}
          onClick={() => onSelect(selected - 1)}
        >
          ←
        </button>
        <input
          id={id}
          type="range"
          min={1}
          max={stops.length}
          step={1}
          value={selected}
          aria-valuetext={sayingOf(stop, nameOf)}
          onChange={({ target }) => onSelect(Number(target.value))}
        />
        <button
          type="button"
          className="button icon"
          aria-label="Later revision"
          disabled={selected === stops.length}
          onClick={() => onSelect(selected + 1)}
        >
          →
        </button>
      </div>
      {stops.length <= STOPS_AT_ONCE ? (
        <div className={css.stops}>
          {stops.map((one, index) => (
            <button
              key={index}
              type="button"
              tabIndex={-1}
              aria-current={index + 1 === selected ? 'step' : undefined}
              onClick={() => onSelect(index + 1)}
            >
              <span>
                {one.kind === 'revision' ? one.number : 'now'} ·{' '}
                {one.kind === 'revision' ? one.revision.status : 'not signed'}
              </span>
              {one.revision.date !== undefined && <span className="fine">{stampOf(new Date(one.revision.date))}</span>}
            </button>
          ))}
        </div>
      ) : (
        <div className={`${css.sliderEnds} fine`} aria-hidden="true">
          <span>{first?.revision.date === undefined ? '' : stampOf(new Date(first.revision.date))}</span>
          <span>{last?.revision.date === undefined ? 'now' : stampOf(new Date(last.revision.date))}</span>
        </div>
      )}
    </div>
  );
}

interface FieldsProps {
  readonly target: Target;
  readonly stop: Stop;
  readonly comments: readonly AddendumAnswer[];
  readonly onlyChanges: boolean;
  readonly nameOf: NameOf;
}

const NO_ROWS: readonly FieldRow[] = [];

function Fields({ target, stop, comments, onlyChanges, nameOf }: FieldsProps): ReactElement {
  const { client, userId } = useSession();
  const { values, changes = NO_ROWS, addendum, refusal } = stop.revision;
  const source = stop.kind === 'unsigned' ? `${target.resourceType}/${target.id}` : `SDCAddendum/${addendum?.id ?? ''}`;
  const whole = useQuery({
    queryKey: ['values', userId, source, stop.kind],
    queryFn: ({ signal }) => bodyValues(client, source, stop.kind, signal),
    enabled: values === undefined && !onlyChanges,
    structuralSharing: false,
    ...(stop.kind === 'unsigned' ? {} : { staleTime: Infinity }), // an addendum never changes
  });
  const all = values ?? whole.data;
  const rows = useMemo(
    () => mergedRows(onlyChanges ? NO_ROWS : (all ?? NO_ROWS), changes, comments),
    [all, changes, comments, onlyChanges],
  );
  if (!onlyChanges && all === undefined && whole.isPending) return <Waiting what="this revision" />;
  const aside = unplaced(rows, comments);
  return (
    <>
      {whole.isError && !onlyChanges && (
        <Fault
          error={whole.error}
          what="the unchanged fields of this revision; its changes are below"
          onRetry={() => void whole.refetch()}
        />
      )}
      {refusal !== undefined && <p className="banner">{refusal}</p>}
      {stop.number > 1 && changes.length === 0 && stop.kind === 'revision' && refusal === undefined && (
        <p className="fine">Nothing changed since the revision before.</p>
      )}
      <FieldTable
        label={`Fields, ${titleOf(stop)}`}
        rows={rows}
        referenceText={(text) => referenceText(text, nameOf)}
        below={({ comments: here }) =>
          here.length === 0
            ? undefined
            : here.map((comment) => <Addendum key={comment.sequence} addendum={comment} nameOf={nameOf} isInPlace />)
        }
      />
      {aside.length > 0 && <Addenda title="Comments on fields that are not shown" addenda={aside} nameOf={nameOf} />}
    </>
  );
}

function Later({ stop, nameOf }: { readonly stop: Stop; readonly nameOf: NameOf }): ReactElement {
  const addenda = stop.addenda.filter((one) => !isComment(one));
  if (addenda.length === 0) return <></>;
  return <Addenda title="Added to this revision" addenda={addenda} nameOf={nameOf} />;
}

/** All values of a signed content, from the addendum that contains it, or from the stored document. */
async function bodyValues(
  client: SvcClient,
  source: string,
  kind: Stop['kind'],
  signal: AbortSignal,
): Promise<readonly FieldRow[]> {
  const text = await (await client.request('GET', `/fhir/${source}`, { signal })).text();
  const body = kind === 'unsigned' ? text : membersOf(text).find(({ key }) => key === 'snapshot')?.valueText;
  return valuesOf(body ?? '{}', signal);
}
