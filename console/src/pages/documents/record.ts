import { type FieldRow, type FieldValue } from '../../parts/body/body';
import { personIn } from '../../parts/names';

/** The JSON of `$amendments` (docs/reference/addenda.md). */
export interface RecordAnswer {
  readonly target: Named;
  readonly date: string;
  readonly chain: Chain;
  readonly isDeleted?: boolean;
  readonly stored?: {
    readonly versionId: string;
    readonly lastUpdated: string;
    readonly status?: string;
    readonly facts: readonly FieldRow[];
  };
  readonly revisions: readonly RevisionAnswer[];
  readonly total: number;
}

export interface Named {
  readonly resourceType: string;
  readonly id: string;
  readonly display?: string;
}

export interface Chain {
  readonly intact: boolean;
  readonly length: number;
  readonly head?: string;
  readonly broken?: {
    readonly sequence: number;
    readonly addendum?: Named;
    readonly reason: string;
    readonly message: string;
  };
}

export interface AddendumAnswer {
  readonly sequence: number;
  readonly addendum?: Named;
  readonly id?: string;
  /** The reason why the addendum cannot be shown. */
  readonly lost?: string;
  readonly type?: string;
  readonly user?: Named;
  readonly recorder?: Named;
  readonly date?: string;
  readonly isProven?: boolean;
  readonly status?: string;
  readonly text?: string;
  readonly about?: {
    readonly path: readonly string[];
    readonly label: readonly string[];
    readonly value?: FieldValue;
    readonly isFound: boolean;
  };
  readonly isAsShown?: boolean;
  readonly values?: readonly FieldRow[];
}

export interface RevisionAnswer extends Omit<AddendumAnswer, 'sequence'> {
  /** The number of the revision: 0 before the first signature; absent for changes that nobody signed. */
  readonly number?: number;
  readonly sequence?: number;
  readonly unsigned?: boolean;
  readonly since?: number;
  readonly refusal?: string;
  /** All values, only for the first revision. */
  readonly values?: readonly FieldRow[];
  /** The changes, only for each later revision. */
  readonly changes?: readonly FieldRow[];
  readonly addenda: readonly AddendumAnswer[];
}

/** A position of the slider. */
export interface Stop {
  readonly kind: 'revision' | 'unsigned';
  /** Number of the revision. */
  readonly number: number;
  readonly revision: RevisionAnswer;
  /** Addenda between this position and the next one. */
  readonly addenda: readonly AddendumAnswer[];
}

/** Revisions in order, then the unsigned changes. */
export function stopsOf({ revisions }: RecordAnswer): readonly Stop[] {
  return revisions.flatMap((revision): readonly Stop[] => {
    if (revision.unsigned === true)
      return [{ kind: 'unsigned', number: revision.since ?? 0, revision, addenda: revision.addenda }];
    const { number = 0, addenda } = revision;
    return number === 0 ? [] : [{ kind: 'revision', number, revision, addenda }];
  });
}

/** Comments and other addenda from before the first signature. */
export const beforeSignature = ({ revisions }: RecordAnswer): readonly AddendumAnswer[] =>
  revisions.find(({ number }) => number === 0)?.addenda ?? [];

/** A sentence for a chain that is intact. */
export const chainSentence = ({ length }: Chain): string =>
  length === 1
    ? 'Chain valid: the 1 entry is unchanged since it was recorded.'
    : `Chain valid: all ${length} entries are unchanged since they were recorded.`;

/** A comment that belongs to a value. */
export const isComment = ({ type, about }: AddendumAnswer): boolean =>
  type === 'svc.sdc.addendum/Comment' && about !== undefined;

/** The kind of an addendum: `Note` for `svc.sdc.addendum/Note`. */
export const kindOf = (type: string | undefined): string => type?.slice(type.lastIndexOf('/') + 1) ?? 'Addendum';

/** A type in words: `Vitals document` for `clinic.forms/VitalsDocument`. */
export function wordsOf(type: string): string {
  const [first = '', ...others] = kindOf(type).split(/(?<=[a-z])(?=[A-Z])/);
  return [first, ...others.map((word) => word.toLowerCase())].join(' ');
}

/** Everyone whom the record names: authors and recorders, and the references in its values. */
export function peopleIn({ revisions, stored }: RecordAnswer): readonly (Named | undefined)[] {
  const signers = revisions.flatMap(({ user, recorder, addenda }) => [
    user,
    recorder,
    ...addenda.flatMap((addendum) => [addendum.user, addendum.recorder]),
  ]);
  const rows = [stored?.facts, ...revisions.flatMap(({ values, changes }) => [values, changes])].flat();
  const named = rows.flatMap((row) => [row?.old, row?.new]).map((value) => personIn(value?.text ?? ''));
  return [...signers, ...named];
}

/** The slider position of an addendum, from 1; undefined before the first signature. */
export function stopOf(record: RecordAnswer, sequence: number): number | undefined {
  const at = stopsOf(record).findLastIndex(({ revision }) => (revision.sequence ?? Infinity) <= sequence);
  return at < 0 ? undefined : at + 1;
}
