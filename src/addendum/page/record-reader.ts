import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { compactJson } from '../../platform/json/compact-json';
import { membersOf } from '../../platform/json/json-members';
import { JsonOutline } from '../../platform/json/json-outline';
import { isObject, memberOf } from '../../platform/json/plain-object';
import { Clock } from '../../platform/time/clock';
import { Slices } from '../../platform/time/slices';
import { notStored } from '../../store/not-stored';
import { ResourceReader } from '../../store/resource-reader';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { type StoredResource } from '../../model/stored-resource';
import { AddendumEntries, type StoredEntry } from '../chain/addendum-entries.repository';
import { Chains, type Verification } from '../chain/chains';
import { AMENDMENT, HISTORY } from '../types/addendum-kinds';
import { GrantedTargets } from '../store/granted-targets';
import { type DiffEntry, diffSnapshots } from '../snapshots/snapshot-diff';
import { changeRows, type FieldRow, valueRows } from './field-rows';
import {
  type AddendumHead,
  type FieldAtTheTime,
  type Lost,
  type Person,
  type RecordHead,
  type RecordPart,
  type Remark,
  type Revision,
  type UnsignedChanges,
} from './record';
import { SnapshotFields } from './snapshot-fields';

const MAX_TRIES = 5;

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
  readonly text: string;
  readonly fields: SnapshotFields;
  /** Hash of the list of changes since the signed body before, as an Amendment stores it; undefined for the first. */
  readonly diffHash: string | undefined;
}

/** The record of a target: its revisions with their changes, and all other addenda in between. */
export interface TargetRecord {
  readonly head: RecordHead;
  readonly parts: () => AsyncGenerator<RecordPart, void, void>;
}

/** Reads the record of a target in the order of its addenda, a few at a time. */
@Injectable()
export class RecordReader {
  constructor(
    private readonly granted: GrantedReader,
    private readonly targets: GrantedTargets,
    private readonly reader: ResourceReader,
    private readonly entries: AddendumEntries,
    private readonly chains: Chains,
    private readonly slices: Slices,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads the record of a target. Revisions that are signed after this call began are not included.
   * @throws ServiceError 'not-found' or 'gone' for a target that is not stored and has no addenda, or that the caller
   * may not read
   */
  async read(target: NativeReference): Promise<TargetRecord> {
    const { stored, chain } = await this.ofOneMoment(target);
    const head: RecordHead = {
      target,
      readAt: this.clock.now().toISOString(),
      stored: stored === undefined ? undefined : await this.storedTargetOf(target, stored),
      chain,
    };
    return { head, parts: () => this.partsOf(target, stored, chain) };
  }

  /**
   * Reads the stored body and checks the chain so that both are of the same moment. Signing writes body and addenda in
   * one transaction. So if the body is the same before and after the check of the chain, they belong together.
   */
  private async ofOneMoment(
    target: NativeReference,
  ): Promise<{ readonly stored: StoredResource | undefined; readonly chain: Verification }> {
    const { resourceType, id } = target;
    let stored = await this.targets.find(target);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (stored === undefined) await this.assertKept(target);
      const chain = await this.chains.check(target);
      const after = await this.targets.find(target);
      if (after?.text === stored?.text) return { stored, chain };
      stored = after;
    }
    throw new ServiceError('busy', `${resourceType}/${id} changes again and again. Try again in a few seconds.`, {
      code: 'write-conflict',
      retryAfterSeconds: 5,
    });
  }

  /**
   * Throws if a target that is not stored has no addenda either; the record of a deleted target stays readable. A
   * caller who is limited to some rows cannot read it, since row criteria need the body to decide.
   */
  private async assertKept(target: NativeReference): Promise<void> {
    const { resourceType, id } = target;
    if (this.granted.isLimited) throw notStored(resourceType, id, false);
    const { links } = await this.entries.linksAfter(target, 0);
    if (links.length === 0) await this.reader.read(resourceType, id);
  }

  private async storedTargetOf(target: NativeReference, { text }: StoredResource): Promise<RecordHead['stored']> {
    const fields = await this.fieldsOf(text);
    const facts = FACTS[target.resourceType] ?? [];
    const members = membersIn(text);
    const others = [...members.keys()].filter((key) => !facts.includes(key));
    const meta: unknown = JSON.parse(members.get('meta') ?? '{}');
    return {
      versionId: stringOf(memberOf(meta, 'versionId')) ?? '',
      lastUpdated: stringOf(memberOf(meta, 'lastUpdated')) ?? '',
      status: stringIn(members, 'status'),
      facts: [...valueRows(fields, others)],
    };
  }

  private async *partsOf(
    target: NativeReference,
    stored: StoredResource | undefined,
    chain: Verification,
  ): AsyncGenerator<RecordPart, void, void> {
    let signed: Signed | undefined;
    for await (const entry of this.entries.of(target, chain.intact ? chain.length : undefined)) {
      const isProven = entry.sequence <= chain.length;
      const text = isProven ? (entry.text ?? '') : readableText(entry.text);
      if (text === undefined) {
        yield lost(entry);
        continue;
      }
      const members = membersIn(text);
      const addendum = headOf(entry, members, isProven);
      const snapshot = entry.isSnapshot ? members.get('snapshot') : undefined;
      if (snapshot?.startsWith('{') === true) {
        const { next, part } = await this.revisionOf(addendum, stringIn(members, 'status'), snapshot, signed);
        signed = next;
        yield part;
      } else yield await this.remarkOf(addendum, { text, members }, signed, stored);
    }
    if (signed !== undefined && stored !== undefined) {
      const unsigned = await this.unsignedOf(signed, stored);
      if (unsigned !== undefined) yield unsigned;
    }
  }

  private async revisionOf(
    addendum: AddendumHead,
    status: string | undefined,
    text: string,
    before: Signed | undefined,
  ): Promise<{ readonly next: Signed; readonly part: Revision }> {
    const fields = await this.fieldsOf(text);
    const number = (before?.number ?? 0) + 1;
    const part = { kind: 'revision', number, addendum, status } as const;
    if (before === undefined)
      return { next: { number, text, fields, diffHash: undefined }, part: { ...part, rows: valueRows(fields) } };
    const { rows, refusal, diffHash } = await this.changesOf(before, text, fields);
    return { next: { number, text, fields, diffHash }, part: { ...part, rows, refusal } };
  }

  private async changesOf(
    before: Signed,
    text: string,
    fields: SnapshotFields,
  ): Promise<{ readonly rows: Iterable<FieldRow>; readonly refusal?: string; readonly diffHash?: string }> {
    try {
      const diff = await this.slices.run(diffSnapshots(before.text, text));
      return { rows: changeRows(before.fields, fields, diff.entries), diffHash: hashOf(diff.text) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'unprocessable') throw error;
      return { rows: [], refusal: error.message };
    }
  }

  private async unsignedOf(signed: Signed, stored: StoredResource): Promise<UnsignedChanges | undefined> {
    const { rows, refusal, diffHash } = await this.changesOf(signed, stored.text, await this.fieldsOf(stored.text));
    if (diffHash === NO_CHANGES) return undefined;
    const status = stringIn(membersIn(stored.text), 'status');
    return { kind: 'unsigned', since: signed.number, status, rows, refusal };
  }

  private async remarkOf(
    addendum: AddendumHead,
    { text, members }: { readonly text: string; readonly members: Members },
    signed: Signed | undefined,
    stored: StoredResource | undefined,
  ): Promise<Remark> {
    const path: unknown = JSON.parse(members.get('path') ?? 'null');
    const isPath = Array.isArray(path) && path.every((step) => typeof step === 'string');
    const said = {
      text: stringIn(members, 'text'),
      status: addendum.type === HISTORY ? stringIn(members, 'status') : undefined,
    };
    const about = isPath && path.length > 0 ? await this.fieldAt(path, signed, stored) : undefined;
    const isAmendment = addendum.type === AMENDMENT;
    const isAsShown = isAmendment && signed?.diffHash === hashOf(members.get('diff') ?? '');
    const told = [
      ...OF_THE_HEAD,
      ...(said.text === undefined ? [] : ['text']),
      ...(said.status === undefined ? [] : ['status']),
      ...(addendum.type === HISTORY && members.get('changed') === 'false' ? ['changed'] : []),
      ...(about === undefined ? [] : ['path']),
      ...(isAmendment ? ['diff'] : []),
      ...(isAsShown ? ['old-revision', 'new-revision'] : []),
    ];
    const rows = isAmendment && !isAsShown ? listedRows(members.get('diff'), signed) : [];
    const others = valueRows(await this.fieldsOf(text), told);
    return {
      kind: 'remark',
      addendum,
      revision: signed?.number,
      ...said,
      about,
      isAsShown: isAmendment ? isAsShown : undefined,
      rows: both(rows, others),
    };
  }

  /**
   * Finds the field that a Comment is about, in the last revision before the Comment. Before the first revision, it is
   * looked up in the body that is stored now, without its value, since the value at that time is unknown.
   */
  private async fieldAt(
    path: readonly string[],
    signed: Signed | undefined,
    stored: StoredResource | undefined,
  ): Promise<FieldAtTheTime> {
    const fields = signed?.fields ?? (await this.fieldsOf(stored?.text ?? '{}'));
    const value = signed === undefined ? undefined : fields.valueAt(path);
    return { path, label: fields.labelOf(path), value, isFound: fields.find(path) !== undefined };
  }

  private async fieldsOf(text: string): Promise<SnapshotFields> {
    return new SnapshotFields(await this.slices.run(JsonOutline.of(text)));
  }
}

/** Yields the changes that an Amendment lists. They are shown if they differ from the changes between the snapshots. */
function* listedRows(text: string | undefined, signed: Signed | undefined): Generator<FieldRow> {
  const diff: unknown = JSON.parse(text ?? '[]');
  const entries = Array.isArray(diff) ? diff.filter(isDiffEntry) : [];
  for (const { type, path, old, new: now, ...kinds } of entries) {
    yield {
      type: type === 'add' ? 'added' : type === 'remove' ? 'removed' : 'changed',
      path,
      label: signed?.fields.labelOf(path) ?? path,
      ...(old === undefined ? {} : { old: { text: old, kind: kinds['old-kind'] } }),
      ...(now === undefined ? {} : { new: { text: now, kind: kinds['new-kind'] } }),
    };
  }
}

const isDiffEntry = (entry: unknown): entry is DiffEntry => isObject(entry) && Array.isArray(entry.path);

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
    id,
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
