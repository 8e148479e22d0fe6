import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { type ResourceDraft } from '../../model/resource-draft';
import { ResourceWriter, type WriteOptions } from '../../resource/resource-writer';
import { type LockedResource } from '../../store/resource-store';
import { type StoredResource } from '../../model/stored-resource';
import { assertMatch } from '../../resource/writes/possible-writes';
import { type ResourcePatch, type WriteResult } from '../../resource/writes/write';
import { type Condition } from './condition';
import { ConditionMatches, noMatch } from './condition-matches';

export interface ConditionalResult {
  /** `existed`: a conditional create found its resource and wrote nothing. */
  readonly outcome: WriteResult['outcome'] | 'existed';
  readonly resource: StoredResource;
}

export interface ConditionalDeletion {
  readonly count: number;
  /** The deleted resource, if only one was deleted. */
  readonly resource?: StoredResource;
}

/** Maximum number of resources that one `remove-all` deletes, since it is one transaction. */
const MAX_REMOVED = 1000;
/** Resources deleted at once, since their bodies are read when they are deleted. */
const REMOVED_AT_ONCE = 50;

/**
 * Makes writes that depend on a search (http://hl7.org/fhir/R4/http.html#ccreate, #cond-update, #cdelete). Writers with
 * the same condition queue before they search, so that none misses the write of another (ADR 0016). Each try gets a
 * copy of the draft, since rules change their drafts and a unit of work may run again.
 */
@Injectable()
export class ConditionalWriter {
  constructor(
    private readonly matches: ConditionMatches,
    private readonly writer: ResourceWriter,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Stores the draft if no resource matches. If one matches, returns it; if several match, refuses the create. */
  create(
    draft: ResourceDraft,
    criteria: string,
    { reach }: Pick<WriteOptions, 'reach'> = {},
  ): Promise<ConditionalResult> {
    return this.run({ type: draft.type, criteria, reach }, async (match) =>
      match === undefined
        ? { outcome: 'created', resource: await this.writer.create(draft.copy(), { reach }) }
        : { outcome: 'existed', resource: match },
    );
  }

  /**
   * Replaces the resource that matches. If none matches, creates it, under the draft's id if the draft has one.
   * @throws ServiceError 'invalid' if the draft's id is not that of the match, 'duplicate' if the id is taken
   */
  put(draft: ResourceDraft, criteria: string, options: WriteOptions): Promise<ConditionalResult> {
    return this.run({ type: draft.type, criteria, reach: options.reach }, async (match) => {
      if (match === undefined) {
        assertMatch(options, undefined);
        const { reach } = options;
        return { outcome: 'created', resource: await this.writer.create(draft.copy(), { method: 'PUT', reach }) };
      }
      if (draft.id !== undefined && draft.id !== match.id)
        throw new ServiceError('id-mismatch', 'The id in the body is not the id of the resource that matches.', {
          expression: `${draft.type}.id`,
        });
      return this.writer.put(draft.copy(), match.id, { ...options, locked: match });
    });
  }

  /**
   * Patches the resource that matches.
   * @throws ServiceError 'not-found' if none matches
   */
  patch(type: string, criteria: string, patch: ResourcePatch, options: WriteOptions): Promise<ConditionalResult> {
    return this.run({ type, criteria, reach: options.reach }, (match) => {
      if (match === undefined) throw noMatch(type);
      return this.writer.patch(type, match.id, patch, { ...options, locked: match });
    });
  }

  /**
   * Deletes the resource that matches. With `all` it deletes every match, in one transaction.
   * @throws ServiceError 'multiple-matches' if several match without `all`, or more than 1,000 with `all`; nothing is
   *   deleted then
   */
  delete(
    type: string,
    criteria: string,
    { all, ...options }: WriteOptions & { readonly all: boolean },
  ): Promise<ConditionalDeletion> {
    const { reach } = options;
    if (all) return this.deleteAll({ type, criteria, reach });
    return this.run({ type, criteria, reach }, async (match) => {
      if (match === undefined) assertMatch(options, undefined);
      else await this.writer.delete(type, match.id, { ...options, locked: match });
      return match === undefined ? { count: 0 } : { count: 1, resource: match };
    });
  }

  private deleteAll(condition: Condition): Promise<ConditionalDeletion> {
    return this.unitOfWork.run(async () => {
      await this.matches.lock([condition]);
      if (await this.matches.areMoreThan(MAX_REMOVED, condition)) throw tooMany(condition);
      const { reach } = condition;
      let count = 0;
      let last: StoredResource | undefined;
      for (;;) {
        const matches = await this.matches.hold(condition, REMOVED_AT_ONCE, true);
        if (matches.length === 0) break;
        count += matches.length;
        // Other requests may write further matches during the deletion, so the number is checked again.
        if (count > MAX_REMOVED) throw tooMany(condition);
        await this.writer.deleteAll(matches, { reach });
        last = matches.at(-1);
      }
      return { count, ...(count === 1 && last !== undefined ? { resource: last } : {}) };
    });
  }

  private run<T>(condition: Condition, write: (match: LockedResource | undefined) => Promise<T> | T): Promise<T> {
    return this.unitOfWork.run(async () => {
      await this.matches.lock([condition]);
      return write(await this.matches.holdOne(condition));
    });
  }
}

const tooMany = ({ type }: Condition): ServiceError =>
  new ServiceError(
    'too-many-to-delete',
    `More than ${MAX_REMOVED} ${type} resources match; nothing was deleted. Delete in parts, with narrower criteria.`,
  );
