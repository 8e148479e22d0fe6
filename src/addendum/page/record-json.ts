import { type FieldRows } from './field-rows';
import { type RecordHead, type RecordPart, type RecordPrinter } from './record';

/**
 * Prints a record as JSON: the target, the chain, and the revisions. Each revision has its values or changes, and the
 * addenda that follow it. Addenda before the first revision are in a revision with number 0.
 */
export class RecordJson implements RecordPrinter {
  private isRevisionOpen = false;
  private revisions = 0;
  private addenda = 0;

  *head({ target, readAt, stored, isDeleted, chain }: RecordHead): Generator<string> {
    const now = stored === undefined ? { isDeleted } : { stored };
    yield `${JSON.stringify({ target, date: readAt, chain, ...now }).slice(0, -1)},"revisions":[`;
  }

  *part(part: RecordPart): Generator<string> {
    switch (part.kind) {
      case 'revision': {
        const { number, head, status, rows, refusal } = part;
        yield this.open({ number, ...head, status });
        yield* list(number === 1 ? 'values' : 'changes', rows, refusal);
        yield ',"addenda":[';
        return;
      }
      case 'unsigned': {
        const { since, status, rows, refusal } = part;
        yield this.open({ unsigned: true, since, status });
        yield* list('changes', rows, refusal);
        yield ',"addenda":[';
        return;
      }
      case 'remark': {
        const { head, status, text, about, isAsShown, rows } = part;
        yield this.addendum({ ...head, status, text, about, isAsShown });
        yield* list('values', rows, undefined);
        yield '}';
        return;
      }
      case 'lost':
        yield this.addendum({ sequence: part.sequence, id: part.id, lost: part.reason });
        yield '}';
    }
  }

  *end(count: number): Generator<string> {
    yield `${this.isRevisionOpen ? ']}' : ''}],"total":${count}}`;
  }

  /** Prints the beginning of a revision, without its closing brace, since its addenda follow inside it. */
  private open(members: object): string {
    const before = `${this.isRevisionOpen ? ']}' : ''}${this.revisions++ === 0 ? '' : ','}`;
    this.isRevisionOpen = true;
    this.addenda = 0;
    return `${before}${JSON.stringify(members).slice(0, -1)}`;
  }

  private addendum(members: object): string {
    const opened = this.isRevisionOpen ? '' : `${this.open({ number: 0 })},"addenda":[`;
    return `${opened}${this.addenda++ === 0 ? '' : ','}${JSON.stringify(members).slice(0, -1)}`;
  }
}

function* list(name: string, rows: FieldRows, refusal: string | undefined): Generator<string> {
  yield refusal === undefined ? '' : `,"refusal":${JSON.stringify(refusal)}`;
  let count = 0;
  for (const row of rows)
    yield row === undefined ? '' : `${count++ === 0 ? `,"${name}":[` : ','}${JSON.stringify(row)}`;
  yield count === 0 ? `,"${name}":[]` : ']';
}
