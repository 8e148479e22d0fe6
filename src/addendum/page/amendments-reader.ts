import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { membersOf } from '../../platform/json/json-members';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { memberText } from '../../rpc/member-text';
import { RpcRefusal } from '../../rpc/rpc-refusal';
import { Addenda } from '../addenda';
import { AMENDMENT, COMMENT, HISTORY } from '../addendum-kinds';
import { Verify } from '../methods/verify';
import { type DiffEntry } from '../snapshot-diff';
import { type AmendmentsView, type Person, type ViewChange, type ViewEntry } from './amendments-view';
import { labelOf } from './field-label';

/** A page of more is no page; what is left out is told. */
const MAX_ENTRIES = 1000;

/** Texts that are in memory at once: each may hold a snapshot of megabytes. */
const TEXTS_AT_ONCE = 4;

/** Gathers what is to be shown of a target: revision by revision what changed, and what was said. */
@Injectable()
export class AmendmentsReader {
  constructor(
    private readonly addenda: Addenda,
    private readonly granted: GrantedReader,
    private readonly verification: Verify,
  ) {}

  /** @throws ServiceError 'not-found' or 'gone' for a target that is neither stored nor has addenda, or may not be read. */
  async read(target: NativeReference): Promise<AmendmentsView> {
    const ids = await this.idsOf(target);
    const stored = await this.granted.find(target.resourceType, target.id);
    const gathering = new Gathering(stored?.text);
    for (let at = 0; at < ids.length; at += TEXTS_AT_ONCE) {
      const texts = await this.addenda.textsOf(ids.slice(at, at + TEXTS_AT_ONCE));
      for (const text of texts) gathering.add(text);
    }
    const entries = gathering.finish();
    const leftOut = Math.max(entries.length - MAX_ENTRIES, 0);
    return {
      target: `${target.resourceType}/${target.id}`,
      ...(stored === undefined ? {} : { stored: storedPart(stored.text) }),
      chain: await this.verification.execute({ target }),
      left_out: leftOut,
      entries: entries.slice(leftOut),
    };
  }

  private async idsOf(target: NativeReference): Promise<readonly string[]> {
    try {
      return await this.addenda.idsOf(target);
    } catch (error) {
      // The same to RPC and REST, each in its words.
      if (error instanceof RpcRefusal) await this.granted.read(target.resourceType, target.id);
      throw error;
    }
  }
}

/** Goes through the addenda in their order; of the snapshots it keeps the last two, for the names and units of fields. */
class Gathering {
  private readonly entries: ViewEntry[] = [];
  private readonly revisions = new Map<string, number>();
  private before: unknown;
  private latest: unknown;
  private number = 0;

  constructor(private readonly storedText: string | undefined) {}

  add(text: string): void {
    const members = new Map(membersOf(text).map(({ key, valueText }) => [key, valueText]));
    const valueOf = (key: string): unknown => JSON.parse(members.get(key) ?? 'null') as unknown;
    const stringOf = (key: string): string | undefined => {
      const value = valueOf(key);
      return typeof value === 'string' ? value : undefined;
    };
    const [id = '', type = '', status] = [stringOf('id'), stringOf('type'), stringOf('status')];
    const [user, recorder] = [personOf(valueOf('user')), personOf(valueOf('recorder'))];
    const content = this.contentOf(type, id, valueOf);
    const told = new Set([...OWN_MEMBERS, ...Object.values(MEMBERS_OF_KIND[type] ?? ['text'])]);
    const more = [...members].filter(([key]) => !told.has(key));
    const note = stringOf('text');
    this.entries.push({
      number: ++this.number,
      id,
      type,
      date: stringOf('date') ?? '',
      user,
      ...(recorder.reference === user.reference ? {} : { recorder }),
      ...(type === HISTORY && status !== undefined ? { status } : {}),
      ...content,
      ...(type === HISTORY || type === AMENDMENT || note === undefined ? {} : { text: note }),
      ...(more.length === 0 ? {} : { more: Object.fromEntries(more) }),
    });
  }

  /** The entries, with the Comments put to the fields they are about. */
  finish(): readonly ViewEntry[] {
    const comments = this.entries.filter(({ field }) => field !== undefined);
    if (comments.length === 0) return this.entries;
    return this.entries.map((entry) =>
      entry.changes === undefined
        ? entry
        : {
            ...entry,
            changes: entry.changes.map((change) => ({
              ...change,
              comments: comments
                .filter(({ field }) => field?.path.every((step, index) => change.path[index] === step) === true)
                .map(({ number }) => number),
            })),
          },
    );
  }

  private contentOf(type: string, id: string, valueOf: (key: string) => unknown): Partial<ViewEntry> {
    if (type === HISTORY) return this.historyOf(id, valueOf('snapshot'));
    if (type === COMMENT) return this.commentOf(valueOf('path'));
    if (type !== AMENDMENT) return {};
    const numberOf = (key: string): number =>
      this.revisions.get((valueOf(key) as NativeReference | null)?.id ?? '') ?? 0;
    const diff = (valueOf('diff') ?? []) as readonly DiffEntry[];
    return {
      revisions: { old: numberOf('old-revision'), new: numberOf('new-revision') },
      changes: diff.map((entry) => this.changeOf(entry)),
    };
  }

  private historyOf(id: string, snapshot: unknown): Partial<ViewEntry> {
    if (snapshot === null) return {};
    this.before = this.latest;
    this.latest = snapshot;
    const revision = this.revisions.size + 1;
    this.revisions.set(id, revision);
    return { revision };
  }

  private commentOf(path: unknown): Partial<ViewEntry> {
    if (!Array.isArray(path) || path.length === 0) return {};
    const steps = path.map(String);
    const document: unknown = this.latest ?? (this.storedText === undefined ? undefined : JSON.parse(this.storedText));
    return { field: { label: labelOf(steps, document).label, path: steps } };
  }

  private changeOf(entry: DiffEntry): ViewChange {
    const { path, ...sides } = entry;
    const [old, now] = [labelOf(path, this.before), labelOf(path, this.latest)];
    return {
      label: (entry.new === undefined ? old : now).label,
      path,
      ...sides,
      ...(entry.old === undefined || old.unit === undefined ? {} : { 'old-unit': old.unit }),
      ...(entry.new === undefined || now.unit === undefined ? {} : { 'new-unit': now.unit }),
      comments: [],
    };
  }
}

/** Members that every addendum is shown with. */
const OWN_MEMBERS = ['resourceType', 'id', 'meta', 'type', 'target', 'user', 'recorder', 'date'];

/** Members that the page shows in its own words; all others are shown as they are. */
const MEMBERS_OF_KIND: Readonly<Record<string, readonly string[]>> = {
  [HISTORY]: ['status', 'changed', 'snapshot'],
  [AMENDMENT]: ['old-revision', 'new-revision', 'diff'],
  [COMMENT]: ['text', 'path'],
};

function personOf(reference: unknown): Person {
  const {
    resourceType = 'User',
    id = '',
    display,
  } = (reference ?? {}) as Partial<NativeReference & { display: string }>;
  return { reference: `${resourceType}/${id}`, ...(typeof display === 'string' ? { display } : {}) };
}

function storedPart(text: string): NonNullable<AmendmentsView['stored']> {
  const valueOf = (key: string): unknown => JSON.parse(memberText(text, key) ?? 'null') as unknown;
  const parts = ['type', 'status', 'patient', 'encounter'].flatMap((key) => {
    const value = valueOf(key) ?? (valueOf('ctx') as Readonly<Record<string, unknown>> | null)?.[key];
    if (typeof value === 'string') return [[key, value]];
    return typeof value === 'object' && value !== null ? [[key, personOf(value).reference]] : [];
  });
  return Object.fromEntries(parts) as NonNullable<AmendmentsView['stored']>;
}
