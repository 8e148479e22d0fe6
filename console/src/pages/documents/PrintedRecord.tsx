import { type ReactElement } from 'react';
import { FieldTable } from '../../parts/body/FieldTable';
import { type NameOf } from '../../parts/names';
import { Time } from '../../parts/Time';
import { Addenda } from './Addenda';
import { withoutShownUnits } from './merged-rows';
import { beforeSignature, chainSentence, type RecordAnswer, stopsOf } from './record';
import { Who } from './Who';
import css from './documents.module.css';

interface Props {
  readonly title: string;
  readonly record: RecordAnswer;
  readonly nameOf: NameOf;
}

/** The whole record for printing: the first signed content, the changes of each later signature, and all addenda. */
export function PrintedRecord({ title, record, nameOf }: Props): ReactElement {
  const { target, date, chain } = record;
  const before = beforeSignature(record);
  return (
    <div className={css.printed} aria-hidden="true">
      <h1>{title}</h1>
      <p>
        {target.resourceType}/{target.id}, read <Time value={date} as="zoned" />
      </p>
      <p>
        {chain.intact
          ? `${chainSentence(chain)} Fingerprint of the last entry: ${chain.head ?? ''}`
          : `CHAIN BROKEN: the first fault is at entry ${chain.broken?.sequence ?? '?'}. ${chain.broken?.message ?? ''}`}
      </p>
      {before.length > 0 && <Addenda title="Before the first signature" addenda={before} nameOf={nameOf} isWhole />}
      {stopsOf(record).map((stop) => (
        <section key={`${stop.kind}-${stop.number}`}>
          <h2>{stop.kind === 'revision' ? `Revision ${stop.number}` : `Not signed, since revision ${stop.number}`}</h2>
          <p>
            {stop.revision.status} <Who addendum={stop.revision} nameOf={nameOf} />
          </p>
          {stop.revision.refusal !== undefined && <p>{stop.revision.refusal}</p>}
          <FieldTable
            label="Fields"
            rows={stop.revision.values ?? withoutShownUnits(stop.revision.changes ?? [])}
            isWhole
          />
          {stop.addenda.length > 0 && <Addenda title="Added to it" addenda={stop.addenda} nameOf={nameOf} isWhole />}
        </section>
      ))}
    </div>
  );
}
