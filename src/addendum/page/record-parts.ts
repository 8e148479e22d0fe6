import { createHash } from 'node:crypto';
import { ServiceError } from '../../platform/errors/service-error';
import { compactJson } from '../../platform/json/compact-json';
import { membersOf } from '../../platform/json/json-members';
import { JsonOutline } from '../../platform/json/json-outline';
import { memberOf } from '../../platform/json/plain-object';
import { type Slices } from '../../platform/time/slices';
import { type StoredResource } from '../../model/stored-resource';
import { type StoredEntry } from '../chain/addendum-entries.repository';
import { diffOutlines } from '../snapshots/snapshot-diff';
import { AMENDMENT, HISTORY } from '../types/addendum-kinds';
import { changeRows, type FieldRows, listedRows, valueRows } from './field-rows';
import {
  type AddendumHead,
  type FieldAtTheTime,
  type Lost,
  type Person,
  type RecordPart,
  type Remark,
  type Revision,
  type StoredTarget,
  type UnsignedChanges,
} from './record';
import { SnapshotFields } from './snapshot-fields';

const OF_THE_HEAD = ['resourceType', 'id', 'meta', 'type', 'target', 'user', 'recorder', 'date'];

/** The members, by type, that identify a document or workflow and its patient. */
const FACTS: Readonly<Record<string, readonly string[]>> = {
  SDCDocument: ['type', 'title', 'patient', 'encounter', 'author', 'source', 'based-on'],
  SDCWorkflow: ['workflow', 'type', 'title', 'version', 'patient', 'encounter', 'author', 'ctx'],
};

/** The JSON texts of an object's members, by key. The texts are found in one scan, since a body may have megabytes. */
type Members = ReadonlyMap<string, string>;

const membersIn = (text: string): Members => new Map(membersOf(text).map(({ key, valueText }) => [key, valueText]));

/** The last signed body before the current position in the record. */
interface Signed {
  readonly number: number;
  readonly fields: SnapshotFields;
  /** Hash of the list of changes since the signed body before, as an Amendment stores it; undefined for the first. */
  readonly diffHash: string | undefined;
}

/** Makes the parts of a record from its addenda, in order. Addenda refer to the last signed body, so it is kept. */
export class RecordParts {
  private signed: Signed | undefined;

  /** @param stored the target as it is stored now; undefined if it is not */
  constructor(
    private readonly slices: Slices,
    private readonly stored: StoredResource | undefined,
  ) {}

  async storedTarget(): Promise<StoredTarget | undefined> {
    if (this.stored === undefined) return undefined;
    const { type, text } = this.stored;
    const facts = FACTS[type] ?? [];
    const members = membersIn(text);
    const others = [...members.keys()].filter((key) => !facts.includes(key));
    const meta: unknown = JSON.parse(members.get('meta') ?? '{}');
    return {
      versionId: stringOf(memberOf(meta, 'versionId')) ?? '',
      lastUpdated: stringOf(memberOf(meta, 'lastUpdated')) ?? '',
      status: stringIn(members, 'status'),
      facts: [...valueRows(await this.fieldsOf(text), others)].filter((row) => row !== undefined),
    };
  }

  async partOf(entry: StoredEntry, isProven: boolean): Promise<RecordPart> {
    const text = isProven ? (entry.text ?? '') : readableText(entry.text);
    if (text === undefined) return lost(entry);
    const members = membersIn(text);
    const head = headOf(entry, members, isProven);
    const snapshot = entry.isSnapshot ? members.get('snapshot') : undefined;
    return snapshot?.startsWith('{') === true
      ? this.revision(head, stringIn(members, 'status'), snapshot)
      : this.remark(head, members, text);
  }

  /** Returns the changes since the last revision; undefined if there are none. */
  async unsigned(): Promise<UnsignedChanges | undefined> {
    const { signed, stored } = this;
    if (signed === undefined || stored === undefined) return undefined;
    const { rows, refusal, diffHash } = await this.changesOf(signed, await this.fieldsOf(stored.text));
    if (diffHash === NO_CHANGES) return undefined;
    const status = stringIn(membersIn(stored.text), 'status');
    return { kind: 'unsigned', since: signed.number, status, rows, refusal };
  }

  private async revision(head: AddendumHead, status: string | undefined, text: string): Promise<Revision> {
    const fields = await this.fieldsOf(text);
    const before = this.signed;
    const number = (before?.number ?? 0) + 1;
    const { diffHash, ...shown } =
      before === undefined ? { rows: valueRows(fields) } : await this.changesOf(before, fields);
    this.signed = { number, fields, diffHash };
    return { kind: 'revision', number, head, status, ...shown };
  }

  private async changesOf(
    before: Signed,
    fields: SnapshotFields,
  ): Promise<{ readonly rows: FieldRows; readonly refusal?: string; readonly diffHash?: string }> {
    try {
      const diff = await this.slices.run(diffOutlines(before.fields.outline, fields.outline));
      return { rows: changeRows(before.fields, fields, diff.entries), diffHash: hashOf(diff.text) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'unprocessable') throw error;
      return { rows: [], refusal: error.message };
    }
  }

  private async remark(head: AddendumHead, members: Members, text: string): Promise<Remark> {
    const [isHistory, isAmendment] = [head.type === HISTORY, head.type === AMENDMENT];
    const said = { text: stringIn(members, 'text'), status: isHistory ? stringIn(members, 'status') : undefined };
    const about = await this.fieldAt(JSON.parse(members.get('path') ?? 'null'));
    const isAsShown = isAmendment && this.signed?.diffHash === hashOf(members.get('diff') ?? '');
    const isShown: Readonly<Record<string, boolean>> = {
      text: said.text !== undefined,
      status: said.status !== undefined,
      changed: isHistory && members.get('changed') === 'false',
      path: about !== undefined,
      diff: isAmendment,
      'old-revision': isAsShown,
      'new-revision': isAsShown,
    };
    const shown = [...OF_THE_HEAD, ...Object.keys(isShown).filter((key) => isShown[key])];
    const listed = isAmendment && !isAsShown ? listedRows(members.get('diff'), this.signed?.fields) : [];
    return {
      kind: 'remark',
      head,
      revision: this.signed?.number,
      ...said,
      about,
      isAsShown: isAmendment ? isAsShown : undefined,
      rows: both(listed, valueRows(await this.fieldsOf(text), shown)),
    };
  }

  /**
   * Finds the field that a Comment is about, in the last revision before the Comment. Before the first revision, it is
   * looked up in the body that is stored now, without its value, since the value at that time is unknown.
   */
  private async fieldAt(path: unknown): Promise<FieldAtTheTime | undefined> {
    if (!Array.isArray(path) || path.length === 0 || !path.every((step) => typeof step === 'string')) return undefined;
    const fields = this.signed?.fields ?? (await this.fieldsOf(this.stored?.text ?? '{}'));
    const value = this.signed === undefined ? undefined : fields.valueAt(path);
    return { path, label: fields.labelOf(path), value, isFound: fields.find(path) !== undefined };
  }

  private async fieldsOf(text: string): Promise<SnapshotFields> {
    return new SnapshotFields(await this.slices.run(JsonOutline.of(text)));
  }
}

function* both<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}

/**
 * Returns the text of an unproven addendum as compact JSON; undefined if it is no JSON object. Such a text may have
 * been edited by hand, in another JSON format than the server's.
 */
function readableText(stored: string | null): string | undefined {
  try {
    const text = compactJson(stored ?? '');
    return text.startsWith('{') ? text : undefined;
  } catch {
    return undefined;
  }
}

const lost = ({ sequence, addendumId: id, text }: StoredEntry): Lost => ({
  kind: 'lost',
  sequence,
  id,
  reason: text === null ? 'It is gone from the database.' : 'The text stored in its place cannot be read.',
});

function headOf({ sequence, addendumId: id }: StoredEntry, members: Members, isProven: boolean): AddendumHead {
  return {
    sequence,
    addendum: { id, resourceType: 'SDCAddendum' },
    type: stringIn(members, 'type') ?? '',
    user: personIn(members, 'user'),
    recorder: personIn(members, 'recorder'),
    date: stringIn(members, 'date'),
    isProven,
  };
}

function personIn(members: Members, member: string): Person | undefined {
  const value: unknown = JSON.parse(members.get(member) ?? 'null');
  const [id, resourceType, display] = ['id', 'resourceType', 'display'].map((key) => stringOf(memberOf(value, key)));
  if (id === undefined || resourceType === undefined) return undefined;
  return { resourceType, id, ...(display === undefined ? {} : { display }) };
}

function stringIn(members: Members, member: string): string | undefined {
  const value = members.get(member);
  return value?.startsWith('"') === true ? (JSON.parse(value) as string) : undefined;
}

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');
const NO_CHANGES = hashOf('[]');
