import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isFhirId } from '../../fhir/reference';
import { type NativeReference } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { memberText, withLeadingMembers } from '../../platform/json/json-members';
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
import { ResultById } from '../../rpc/rpc-method';
import { type ParamError, RpcRefusal } from '../../rpc/rpc-refusal';
import { AddendumEntries, emptied, type StoredEntry } from '../chain/addendum-entries.repository';
import { isFinal, NOTE } from '../types/addendum-kinds';
import { GrantedTargets } from './granted-targets';

/** The author of an addendum: the User named in the call, and the caller, who is the recorder. */
export interface Author {
  readonly user: NativeReference;
  readonly recorder: NativeReference;
}

export interface NewAddendum {
  readonly type: string;
  readonly target: NativeReference;
  readonly author: Author;
  /** The members that this type of addendum has, as compact JSON text, so that numbers keep their digits. */
  readonly content: string;
  /** One more member, which becomes the last. It may have megabytes, so it is not scanned or parsed again. */
  readonly large?: { readonly key: string; readonly text: string; readonly value: unknown } | undefined;
  /** Digest of the document's content, if the addendum has a snapshot of it. It shows whether a later one differs. */
  readonly snapshotDigest?: Buffer | undefined;
}

type SentAddendum = Pick<NewAddendum, 'type' | 'target' | 'content'> & { readonly user: NativeReference };

/** The path of a param of the call: its keys from the outside in. */
export type ParamPath = ParamError['path'];

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
   * @param named the User named in the call; undefined if the call names none, and the caller is the author
   * @throws ServiceError 'forbidden' for a User who names another User, when `SVC_ADDENDUM_AUTHOR` is `caller`
   */
  authorOf(named: NativeReference | undefined, { userId, clientId }: Caller): Author {
    const recorder =
      userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };
    const user = named ?? recorder;
    if (userId !== undefined && this.environment.addendumAuthor === 'caller' && user.id !== userId) {
      throw new ServiceError('author-not-caller', 'user must be the User who makes the call.');
    }
    return { user, recorder };
  }

  /**
   * Stores an addendum that a person wrote: a Note, a Comment, or an addendum of a custom type.
   * @param path the path of the param that identifies the target
   * @throws RpcRefusal for an unknown target, or for a Note on an unsigned target; also the errors of {@link authorOf}
   */
  addSent(
    { user, ...addendum }: SentAddendum,
    { caller }: { readonly caller: Caller },
    path: ParamPath = ['target'],
  ): Promise<JsonText> {
    const author = this.authorOf(user, caller);
    return this.unitOfWork.run(async () => {
      const stored = await this.holdTarget(addendum.target, path);
      if (addendum.type === NOTE) await this.assertSigned(addendum.target, stored);
      return this.add({ ...addendum, author });
    });
  }

  /**
   * Locks `target` against other writing calls, and returns its stored resource; undefined when the target was deleted
   * and only its addenda are left. Needs an open unit of work.
   * @param path the path of the param that identifies the target
   * @throws RpcRefusal when the target is neither stored nor has addenda, or the caller may not read it.
   */
  async holdTarget(target: NativeReference, path: ParamPath): Promise<StoredResource | undefined> {
    assertFindable(target, path);
    const count = await this.entries.hold(target);
    const stored = await this.targets.find(target);
    if (stored === undefined && (count === 0 || this.granted.isLimited)) throw targetNotFound(target, path);
    return stored;
  }

  /**
   * Like {@link holdTarget}, but the target need not be stored, since the call sends its body. Only a caller whom
   * a policy limits to some rows needs a stored target, and both the target and the body must be among these rows.
   */
  async holdBrought(target: NativeReference, body: string): Promise<void> {
    await this.entries.hold(target);
    await this.assertSeen(target, ['resource']);
    await this.targets.assertBodyGranted(target, body);
  }

  /** Stores an addendum, appends it to its target, and returns its text. The target must be locked. */
  async add({ type, target, author, content, large, snapshotDigest }: NewAddendum): Promise<JsonText> {
    const own = Object.entries({ meta: {}, type, target, ...author, date: this.clock.now().toISOString() });
    // Members that the server assigns replace members of the same name in the sent content.
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
   * Lists the addenda of a target, oldest first. The list is read in chunks, since it may be too long for memory. It is
   * consistent nevertheless, since addenda are only appended: it shows the state at its end.
   * @param path the path of the param that identifies the target; without it, the error does not name the target, as in
   * the interface specification
   * @throws RpcRefusal when the target is neither stored nor has addenda, or the caller may not read it.
   */
  async listOf(target: NativeReference, path?: ParamPath): Promise<JsonParts> {
    await this.assertSeen(target, path);
    return new JsonParts(this.listText(target, path));
  }

  /**
   * Yields the list as JSON text. A target without addenda is checked before the first text, so it can still be
   * refused. Commas are yielded separately, since joining would copy long texts.
   */
  private async *listText(target: NativeReference, path?: ParamPath): AsyncGenerator<string, void, void> {
    let before = '[';
    for await (const page of this.entries.pagesOf(target)) {
      // A missing addendum is found before a text of its page is sent, so that a list of one page is refused.
      const texts = page.splice(0).map(storedTextOf);
      for (const text of emptied(texts)) {
        yield before;
        yield text;
        before = ',';
      }
    }
    if (before === '[') await this.assertStored(target, path);
    yield before === '[' ? '[]' : ']';
  }

  /** @throws RpcRefusal when the caller's row filter excludes the target, or when no target can have this id */
  async assertSeen(target: NativeReference, path?: ParamPath): Promise<void> {
    assertFindable(target, path);
    if (this.granted.isLimited && (await this.targets.find(target)) === undefined) throw targetNotFound(target, path);
  }

  /**
   * @throws RpcRefusal for a target that is not stored. Call it only for a target without addenda: addenda show that
   * their target existed.
   */
  async assertStored(target: NativeReference, path?: ParamPath): Promise<void> {
    if ((await this.reader.find(target.resourceType, target.id)) === undefined) throw targetNotFound(target, path);
  }

  /**
   * Refuses a Note on an unsigned target (interface specification, "Addendum RPC", rule 2). A target that is not stored
   * has no status. It counts as signed if it has a snapshot, since only signed bodies are kept as snapshots.
   */
  private async assertSigned(target: NativeReference, stored: StoredResource | undefined): Promise<void> {
    const isSigned =
      stored === undefined
        ? (await this.entries.latestSnapshots(target)).length > 0
        : isFinal(JSON.parse(memberText(stored.text, 'status') ?? 'null'));
    if (isSigned) return;
    throw new RpcRefusal(`A Note needs a ${target.resourceType} that is completed or amended; add a Comment instead.`, {
      code: 'note-on-open-document',
    });
  }

  /**
   * Returns the result of a call that repeats an earlier writing call for `target`, if the caller may read the target
   * now.
   * @param kept the stored result of the earlier call, or the id of the addendum that it stored
   */
  async repeated(target: NativeReference, kept: JsonText): Promise<JsonText> {
    await this.assertSeen(target);
    const value = JSON.parse(kept.text) as unknown;
    return typeof value === 'string' ? new JsonText((await this.textsOf([value])).join('')) : kept;
  }

  /** Returns the texts of addenda, in the order of `ids`. */
  async textsOf(ids: readonly string[]): Promise<string[]> {
    const found = await this.reader.findMany('SDCAddendum', ids);
    const texts = new Map(found.map(({ id, text }) => [id, text]));
    return ids.map((addendumId) => storedTextOf({ addendumId, text: texts.get(addendumId) ?? null }));
  }
}

/** @throws ServiceError for a missing addendum: a record must not lose one silently */
function storedTextOf({ addendumId, text }: Pick<StoredEntry, 'addendumId' | 'text'>): string {
  if (text !== null) return text;
  throw new ServiceError(
    'addendum-missing',
    `SDCAddendum/${addendumId} is missing from the database. svc.sdc.addendum/verify finds the first broken link of a record.`,
  );
}

/** Refuses an id that no resource can have. A lookup might exceed the maximum length of an index key. */
function assertFindable(target: NativeReference, path?: ParamPath): void {
  if (!isFhirId(target.id)) throw targetNotFound(target, path);
}

/**
 * The error for a target that is not found. Its message comes from the interface specification. The error of the param
 * names the target and says what to do.
 */
export function targetNotFound({ resourceType, id }: NativeReference, path?: ParamPath): RpcRefusal {
  const message = isFhirId(id)
    ? `${resourceType}/${id} is not stored, or not readable by this caller. Check the id, or store it with PUT /${resourceType}/{id}.`
    : `No ${resourceType} can have such an id. Send one of 1 to 64 letters, digits, "-" or ".".`;
  return new RpcRefusal('Resource not found', {
    code: 'target-not-found',
    ...(path === undefined ? {} : { errors: [{ path, message }] }),
  });
}
