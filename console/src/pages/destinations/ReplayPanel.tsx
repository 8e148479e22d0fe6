import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useDeferredValue, useState } from 'react';
import { useClient } from '../../app/session';
import { Fault } from '../../parts/Fault';
import { TextField } from '../../parts/Field';
import { whole } from '../../parts/numbers';
import { stampOf, zoneOf } from '../../parts/times';
import { isEmptyRange, rangeFault, type RangeText, rangeOf } from './replay-range';
import css from './destinations.module.css';

interface Props {
  readonly id: string;
  readonly onShow: (tab: string) => void;
}

const NO_RANGE: RangeText = { kind: 'time', since: '', until: '', from: '', to: '' };

/** Sends delivered events again. It first shows the number of events, and then the button that sends them. */
export function ReplayPanel({ id, onShow }: Props): ReactElement {
  const client = useClient();
  const queries = useQueryClient();
  const [text, setText] = useState(NO_RANGE);
  const settled = useDeferredValue(text);
  const fault = rangeFault(settled);
  const range = rangeOf(settled);
  const canAsk = fault === undefined && !isEmptyRange(range);
  const preview = useQuery({
    queryKey: ['destination', id, 'replay', range],
    queryFn: () => client.destinations.previewReplay(id, range),
    enabled: canAsk,
    staleTime: 0,
  });
  const replay = useMutation({
    mutationFn: async () => {
      const { limitedTo } = preview.data ?? {};
      await client.destinations.replay(id, { ...range, ...(limitedTo === undefined ? {} : { to: limitedTo }) });
      return { sent: limitedTo === undefined ? (preview.data?.events ?? 0) : MOST, goesOnAt: limitedTo };
    },
    onSuccess: async ({ goesOnAt }) => {
      setText(goesOnAt === undefined ? NO_RANGE : { ...text, kind: 'number', from: String(goesOnAt + 1) });
      await queries.invalidateQueries({ queryKey: ['destination', id] });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    replay.mutate();
  };
  const set = (change: Partial<RangeText>): void => {
    replay.reset();
    setText({ ...text, ...change });
  };
  const { data } = preview;
  const sends = Math.min(data?.events ?? 0, MOST);
  return (
    <form className={`stack ${css.narrow}`} onSubmit={submit}>
      <p className="faint">
        For events that the receiver took and lost. They go to the end of the queue with the numbers and the webhook-id
        that they had. Events that were not delivered need no replay: they wait, and arrive by themselves.
      </p>
      <div className={css.choice} role="group" aria-label="Range by">
        <button
          type="button"
          className="button small"
          aria-pressed={text.kind === 'time'}
          onClick={() => set({ kind: 'time' })}
        >
          Time of delivery
        </button>
        <button
          type="button"
          className="button small"
          aria-pressed={text.kind === 'number'}
          onClick={() => set({ kind: 'number' })}
        >
          Event number
        </button>
        {text.kind === 'time' &&
          [1, 24].map((hours) => (
            <button
              key={hours}
              type="button"
              className="button small"
              onClick={() =>
                set({ since: stampOf(new Date(Date.now() - hours * 3_600_000)).replace(' ', 'T'), until: '' })
              }
            >
              Last {hours === 1 ? 'hour' : `${hours} hours`}
            </button>
          ))}
      </div>
      <div className={css.pair}>
        {text.kind === 'time' ? (
          <>
            <TextField
              label="Delivered from"
              hint={`Times of this device (${zoneOf(new Date())})`}
              type="datetime-local"
              step="1"
              value={text.since}
              onChange={(since) => set({ since })}
            />
            <TextField
              label="Until"
              hint="Now, when empty"
              type="datetime-local"
              step="1"
              value={text.until}
              onChange={(until) => set({ until })}
            />
          </>
        ) : (
          <>
            <TextField
              label="From number"
              inputMode="numeric"
              value={text.from}
              onChange={(typed) => set({ from: typed.trim() })}
            />
            <TextField
              label="To number"
              hint="The latest, when empty"
              inputMode="numeric"
              value={text.to}
              onChange={(typed) => set({ to: typed.trim() })}
            />
          </>
        )}
      </div>
      <p role="status" className={css.preview}>
        {fault ??
          (!canAsk
            ? 'Choose a range to see how many events it holds.'
            : data === undefined
              ? preview.error === null
                ? 'Counting…'
                : ''
              : data.events === 0
                ? 'No delivered event lies in this range.'
                : `${whole(data.events)} delivered ${data.events === 1 ? 'event' : 'events'}: numbers ${data.from} to ${data.to}.${
                    data.limitedTo === undefined
                      ? ''
                      : ` One call sends ${whole(MOST)}: up to number ${data.limitedTo}.`
                  }`)}
      </p>
      {preview.error !== null && <Fault error={preview.error} what="the preview" />}
      <div className="row">
        <button
          type="submit"
          className="button primary"
          disabled={!canAsk || sends === 0 || preview.isFetching || replay.isPending}
        >
          {sends === 0 ? 'Send again' : `Send ${whole(sends)} again`}
        </button>
      </div>
      {replay.data !== undefined && (
        <p role="status" className={css.said}>
          {whole(replay.data.sent)} events are queued again.{' '}
          <button type="button" className="button small" onClick={() => onShow('events')}>
            Watch them
          </button>
        </p>
      )}
      {replay.error !== null && <Fault error={replay.error} what="the replay" />}
    </form>
  );
}

/** The maximum number of events that one call of `$replay` sends. */
const MOST = 10_000;
