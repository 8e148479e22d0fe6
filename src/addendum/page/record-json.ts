import { type FieldRows } from './field-rows';
import { type RecordPrinter } from './record';

/**
 * Prints a record as JSON: the target, the chain, and the revisions. Each revision has its values or changes, and the
 * addenda that follow it. Addenda before the first revision are in a revision with number 0.
 */
export const RECORD_JSON: RecordPrinter = {
  *head({ target, readAt, stored, isDeleted, chain }) {
    const now = stored === undefined ? { isDeleted } : { stored };
    yield `${begun({ target, date: readAt, chain, ...now })},"revisions":[`;
  },

  *section(part, isFirst) {
    yield isFirst ? '' : ']},';
    if (part === undefined) yield begun({ number: 0 });
    else {
      const { status, rows, refusal } = part;
      const isRevision = part.kind === 'revision';
      yield begun(
        isRevision ? { number: part.number, ...part.head, status } : { unsigned: true, since: part.since, status },
      );
      yield* list(isRevision && part.number === 1 ? 'values' : 'changes', rows, refusal);
    }
    yield ',"addenda":[';
  },

  *addendum(part, isFirst) {
    yield isFirst ? '' : ',';
    if (part.kind === 'lost') {
      yield JSON.stringify({ sequence: part.sequence, id: part.id, lost: part.reason });
      return;
    }
    const { head, status, text, about, isAsShown, rows } = part;
    yield begun({ ...head, status, text, about, isAsShown });
    yield* list('values', rows, undefined);
    yield '}';
  },

  *end(count) {
    yield `${count === 0 ? '' : ']}'}],"total":${count}}`;
  },
};

/** Prints an object without its closing brace, since more members follow. */
const begun = (members: object): string => JSON.stringify(members).slice(0, -1);

function* list(name: string, rows: FieldRows, refusal: string | undefined): Generator<string> {
  yield refusal === undefined ? '' : `,"refusal":${JSON.stringify(refusal)}`;
  let count = 0;
  for (const row of rows)
    yield row === undefined ? '' : `${count++ === 0 ? `,"${name}":[` : ','}${JSON.stringify(row)}`;
  yield count === 0 ? `,"${name}":[]` : ']';
}
