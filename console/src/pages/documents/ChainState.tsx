import { useMutation } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { useSession } from '../../app/session';
import { Copy } from '../../parts/Copy';
import { Fault } from '../../parts/Fault';
import { Time } from '../../parts/Time';
import { type Chain, chainSentence, kindOf, type RecordAnswer, stopOf } from './record';
import css from './documents.module.css';

interface Props {
  readonly target: { readonly resourceType: 'SDCDocument' | 'SDCWorkflow'; readonly id: string };
  /** The state when the record was read. */
  readonly chain: Chain;
  readonly record: RecordAnswer;
  readonly onShow: (stop: number) => void;
}

/** Shows whether the addenda are unchanged since they were recorded. */
export function ChainState({ target, chain, record, onShow }: Props): ReactElement {
  const { client } = useSession();
  const verify = useMutation({
    mutationFn: async () => ({ chain: (await client.addenda.verify(target)) as Chain, at: Date.now() }),
  });
  const shown = verify.data?.chain ?? chain;
  const { intact, length, head, broken } = shown;
  return (
    <section className={intact ? css.chain : `${css.chain} ${css.broken}`} aria-label="Chain of evidence">
      <div className={css.chainState} role={intact ? 'status' : 'alert'}>
        <strong>{intact ? chainSentence(shown) : 'Chain broken: this record was changed after it was made'}</strong>
        {!intact && (
          <span>
            {length === 1
              ? 'Only the first entry is as it was recorded.'
              : `The first ${length} entries are as recorded.`}
          </span>
        )}
        <span className="fine">
          {verify.data === undefined ? (
            <>
              checked when it was opened, <Time value={record.date} as="zoned" />
            </>
          ) : (
            <>
              verified at <Time value={verify.data.at} as="zoned" />
            </>
          )}
        </span>
      </div>
      <button type="button" className="button small" disabled={verify.isPending} onClick={() => verify.mutate()}>
        {verify.isPending ? 'Verifying…' : 'Verify now'}
      </button>
      {broken !== undefined && <FirstFault broken={broken} record={record} onShow={onShow} />}
      {head !== undefined && (
        <details className={css.chainHead}>
          <summary>Fingerprint of the last entry</summary>
          <code>{head}</code> <Copy text={head} />
          <p className="fine">
            Note it elsewhere: if somebody wrote the whole record anew, the fingerprint would be another one.
          </p>
        </details>
      )}
      {verify.isError && <Fault error={verify.error} what="the state of the chain" />}
    </section>
  );
}

interface FaultProps {
  readonly broken: NonNullable<Chain['broken']>;
  readonly record: RecordAnswer;
  readonly onShow: (stop: number) => void;
}

function FirstFault({ broken: { sequence, addendum, reason, message }, record, onShow }: FaultProps): ReactElement {
  const stop = stopOf(record, sequence);
  const type = record.revisions
    .flatMap((revision) => [revision, ...revision.addenda])
    .find((one) => one.sequence === sequence)?.type;
  return (
    <div className={css.firstFault}>
      <p>
        First fault at entry {sequence}
        {type !== undefined && `, a ${kindOf(type)}`}: {message}
      </p>
      <p className="row fine">
        <span>
          Reason <code>{reason}</code>
        </span>
        {addendum !== undefined && (
          <span>
            <code>SDCAddendum/{addendum.id}</code>
          </span>
        )}
        {stop !== undefined && (
          <button type="button" className="button small" onClick={() => onShow(stop)}>
            Show where
          </button>
        )}
      </p>
    </div>
  );
}
