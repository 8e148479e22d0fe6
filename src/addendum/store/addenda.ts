import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isFhirId } from '../../fhir/reference';
import { type NativeReference } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { withLeadingMembers } from '../../platform/json/json-members';
import { JsonParts } from '../../platform/json/json-parts';
import { JsonText } from '../../platform/json/json-text';
import { readJsonInSteps } from '../../platform/json/read-json';
import { type Caller } from '../../platform/request/caller';
import { Slices } from '../../platform/time/slices';
import { Clock } from '../../platform/time/clock';
import { ResourceDraft } from '../../model/resource-draft';
import { ResourceReader } from '../../store/resource-reader';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ResourceWriter } from '../../resource/resource-writer';
import { type StoredResource } from '../../model/stored-resource';
import { memberText } from '../../rpc/member-text';
import { ResultById } from '../../rpc/rpc-method';
import { type ParamError, RpcRefusal } from '../../rpc/rpc-refusal';
import { AddendumEntries, emptied, type StoredEntry } from '../chain/addendum-entries.repository';
import { isFinal, NOTE } from '../types/addendum-kinds';
import { GrantedTargets } from './granted-targets';

/** The author of an addendum: the user that the call names, and beside it the caller. */
export interface Author {
  readonly user: NativeReference;
  readonly recorder: NativeReference;
}

export interface NewAddendum {
  readonly type: string;
  readonly target: NativeReference;
  readonly author: Author;
  /** The members of this kind alone; compact JSON text, so that numbers keep their digits. */
  readonly content: string;
  /** One more member, the last. It may be megabytes long, and is neither scanned nor parsed again. */
  readonly large?: { readonly key: string; readonly text: string; readonly value: unknown };
  /** Present when the content holds a snapshot that later ones are compared with. */
  readonly snapshotDigest?: Buffer;
}

/** An addendum as a call brings it. */
type SentAddendum = Pick<NewAddendum, 'type' | 'target' | 'content'> & { readonly user: NativeReference };

/** Keys from the params down. */
export type ParamPath = ParamError['path'];

/** Addenda as resources, in the order of their target. */
@Injectable()
export class Addenda {
  constructor(
    private readonly entries: AddendumEntries,
    private readonly reader: ResourceReader,
    private readonly granted: GrantedReader,
    private readonly targets: GrantedTargets,
    private readonly writer: ResourceWriter,
    private readonly unitOfWork: UnitOfWork,
    private readonly environment: Environment,
    private readonly clock: Clock,
    private readonly slices: Slices,
  ) {}

  /**
   * @param named the user that the call names; the caller where it names none
   * @throws ServiceError 'forbidden' for a User who names another one, where `SVC_ADDENDUM_AUTHOR` is `caller`.
   */
  authorOf(named: NativeReference | undefined, { userId, clientId }: Caller): Author {
    const recorder =
      userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };
    const user = named ?? recorder;
    if (userId !== undefined && this.environment.addendumAuthor === 'caller' && user.id !== userId) {
      throw new ServiceError('forbidden', 'user must be the User who makes the call.');
    }
    return { user, recorder };
  }

  /**
   * Stores an addendum that people write: a Note, a Comment, or one of a kind of their own.
   * @param path of the param that names the target
   * @throws RpcRefusal when the target is unknown, or not signed and the addendum a Note; what {@link authorOf} throws.
   */
  addSent(
    { user, ...addendum }: SentAddendum,
    { caller }: { readonly caller: Caller },
    path: ParamPath = ['target'],
  ): Promise<JsonText> {
    const author = this.authorOf(user, caller);
    return this.unitOfWork.run(async () => {
      const stored = await this.holdTarget(addendum.target, path);
      if (addendum.type === NOTE && stored !== undefined) assertSigned(stored);
      return this.add({ ...addendum, author });
    });
  }

  /**
   * Makes other writing calls for `target` wait, and returns it as it is stored; undefined when only its addenda are
   * left. Needs an open unit of work.
   * @param path of the param that names it
   * @throws RpcRefusal when it is neither stored nor has addenda, or the caller may not read it.
   */
  async holdTarget(target: NativeReference, path: ParamPath): Promise<StoredResource | undefined> {
    assertFindable(target, path);
    const count = await this.entries.hold(target);
    const stored = await this.targets.find(target);
    if (stored === undefined && (count === 0 || this.granted.isLimited)) throw targetNotFound(target, path);
    return stored;
  }

  /**
   * As {@link holdTarget} for a target whose body the call brings, so that it need not be stored; a caller who is limited to
   * rows has to be able to read it all the same.
   */
  async holdBrought(target: NativeReference): Promise<void> {
    await this.entries.hold(target);
    await this.assertSeen(target, ['resource']);
  }

  /** Stores an addendum behind the others of its target, which this unit of work holds, and returns it. */
  async add({ type, target, author, content, large, snapshotDigest }: NewAddendum): Promise<JsonText> {
    const own = Object.entries({ meta: {}, type, target, ...author, date: this.clock.now().toISOString() });
    // Members that the service assigns replace those of an open body.
    const text = withLeadingMembers(
      content,
      own.map(([key, value]) => [key, JSON.stringify(value)]),
    );
    const draft = ResourceDraft.of(await this.slices.run(readJsonInSteps(text)), 'SDCAddendum');
    if (large !== undefined) draft.setMember(large.key, large.text, large.value);
    const stored = await this.writer.create(draft);
    const textHash = createHash('sha256').update(stored.text).digest();
    await this.entries.append(target, { addendumId: stored.id, textHash, snapshotDigest: snapshotDigest ?? null });
    return new ResultById(stored.text, stored.id);
  }

  /**
   * Lists the addenda of a target, the first one first; in parts where they are too long for memory. Addenda are
   * only ever put behind the others, so what is read bit by bit is the list of one moment, that of its end.
   * @param path of the param that names it; without it the refusal is that of the interface, which does not say which
   * @throws RpcRefusal when it is neither stored nor has addenda, or the caller may not read it.
   */
  async listOf(target: NativeReference, path?: ParamPath): Promise<JsonText | JsonParts> {
    await this.assertSeen(target, path);
    const first = await this.entries.entriesAfter(target, 0);
    const end = first.at(-1);
    if (end === undefined) await this.assertStored(target, path);
    return end?.isLast === false
      ? new JsonParts(this.listFrom(first, target, end.sequence))
      : new JsonText(`[${first.map(storedTextOf).join(',')}]`);
  }

  /** Commas come apart from long texts, which they would copy. */
  private async *listFrom(
    first: StoredEntry[],
    target: NativeReference,
    after: number,
  ): AsyncGenerator<string, void, void> {
    let before = '[';
    for (const entry of emptied(first)) {
      yield before;
      yield storedTextOf(entry);
      before = ',';
    }
    for await (const entry of this.entries.of(target, { after })) {
      yield ',';
      yield storedTextOf(entry);
    }
    yield ']';
  }

  /** @throws RpcRefusal when the caller is limited to rows that the target is not one of, or nothing can have such an id. */
  async assertSeen(target: NativeReference, path?: ParamPath): Promise<void> {
    assertFindable(target, path);
    if (this.granted.isLimited && (await this.targets.find(target)) === undefined) throw targetNotFound(target, path);
  }

  /** @throws RpcRefusal when the target is not stored; for what has no addenda that would make it known. */
  async assertStored(target: NativeReference, path?: ParamPath): Promise<void> {
    if ((await this.reader.find(target.resourceType, target.id)) === undefined) throw targetNotFound(target, path);
  }

  /**
   * Answers a repeat of a call that wrote for `target`, as far as the caller may see it now.
   * @param kept the result, or the id of the addendum that was
   */
  async repeated(target: NativeReference, kept: JsonText): Promise<JsonText> {
    await this.assertSeen(target);
    const value = JSON.parse(kept.text) as unknown;
    return typeof value === 'string' ? new JsonText((await this.textsOf([value])).join('')) : kept;
  }

  /** The texts of addenda in the order of `ids`. */
  async textsOf(ids: readonly string[]): Promise<string[]> {
    const found = await this.reader.findMany('SDCAddendum', ids);
    const texts = new Map(found.map(({ id, text }) => [id, text]));
    return ids.map((addendumId) => storedTextOf({ addendumId, text: texts.get(addendumId) ?? null }));
  }
}

/** Interface, "Addendum RPC", rule 2. */
function assertSigned({ type, text }: StoredResource): void {
  if (!isFinal(JSON.parse(memberText(text, 'status') ?? 'null')))
    throw new RpcRefusal(`A Note needs a ${type} that is completed or amended; add a Comment instead.`);
}

/** The text of an addendum; fails when it is gone: a record must not get shorter in silence. */
function storedTextOf({ addendumId, text }: Pick<StoredEntry, 'addendumId' | 'text'>): string {
  if (text === null) throw new Error(`SDCAddendum/${addendumId} belongs to a target and is missing`);
  return text;
}

/** An impossible id is not searched for: it may be longer than an index takes. */
function assertFindable(target: NativeReference, path?: ParamPath): void {
  if (!isFhirId(target.id)) throw targetNotFound(target, path);
}

/** The message is the interface's. The error of the param names the target, and what to do. */
export function targetNotFound({ resourceType, id }: NativeReference, path?: ParamPath): RpcRefusal {
  const message = isFhirId(id)
    ? `${resourceType}/${id} is not stored, or not readable by this caller. Check the id, or store it with PUT /${resourceType}/{id}.`
    : `No ${resourceType} can have such an id. Send one of 1 to 64 letters, digits, "-" or ".".`;
  return new RpcRefusal('Resource not found', path === undefined ? {} : { errors: [{ path, message }] });
}
