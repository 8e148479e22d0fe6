import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { withLeadingMembers, withMember } from '../../platform/json/json-members';
import { readJsonInSteps } from '../../platform/json/read-json';
import { Slices } from '../../platform/time/slices';
import { ResourceWriter } from '../../resource/resource-writer';
import { RowLimits } from '../../resource/rows/row-limits';
import { type StoredResource } from '../../model/stored-resource';
import { memberText } from '../../rpc/member-text';
import { RpcRefusal } from '../../rpc/rpc-refusal';
import { Addenda, type ParamPath, targetNotFound } from '../store/addenda';
import { type DocumentStatus, statusAfter, type Transition } from './document-status';

/** The content and version that a caller sends to change a stored document. */
export interface SentContent {
  /** The whole body as JSON text; its status is ignored. */
  readonly text: string;
  /** The version that the caller read, if the body contains it. */
  readonly versionId: string | undefined;
}

export interface ChangedDocument {
  /** The text before the change. */
  readonly before: string;
  readonly from: unknown;
  readonly to: DocumentStatus;
  readonly stored: StoredResource;
}

/** Ends a dry run that found no fault. */
class DryRunEnd extends Error {}

/**
 * Changes stored documents through the same writer as REST: rules, history, events, audit and the caller's row filter
 * apply.
 */
@Injectable()
export class Documents {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly limits: RowLimits,
    private readonly addenda: Addenda,
    private readonly slices: Slices,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs a call as one transaction. A dry run also checks and writes everything, then rolls back. */
  async transact<T>(isDryRun: boolean, work: () => Promise<T>): Promise<T> {
    if (!isDryRun) return this.unitOfWork.run(work);
    if (this.unitOfWork.isOpen) throw new Error('A dry run needs its own transaction, which it rolls back');
    let found: { readonly result: T } | undefined;
    try {
      return await this.unitOfWork.run(async () => {
        found = { result: await work() };
        throw new DryRunEnd();
      });
    } catch (error) {
      if (error instanceof DryRunEnd && found !== undefined) return found.result;
      throw error;
    }
  }

  /**
   * Like {@link change}, with the document locked against other writing calls for its addenda. Needs an open unit of
   * work.
   */
  async changeHeld(id: string, transition: Transition, sent?: SentContent): Promise<ChangedDocument> {
    await this.addenda.holdTarget({ id, resourceType: 'SDCDocument' }, paramOf(sent));
    return this.change(id, transition, sent);
  }

  /**
   * Moves a document to its next status while its row is locked, and replaces its content by the sent one. Unchanged
   * content and status create no new version.
   * @throws RpcRefusal when it is not stored, has another status, was changed since the caller read it, or breaks a
   * rule; ServiceError 'forbidden' when the caller may not write the result.
   */
  async change(id: string, transition: Transition, sent?: SentContent): Promise<ChangedDocument> {
    const reach = await this.limits.reach();
    let found: Omit<ChangedDocument, 'stored'> | undefined;
    const patched = this.writer.patch(
      'SDCDocument',
      id,
      (text) => {
        const from = JSON.parse(memberText(text, 'status') ?? 'null') as unknown;
        const to = statusAfter(transition, from);
        if (sent?.versionId !== undefined) assertUnchanged(text, sent.versionId);
        found = { before: text, from, to };
        return this.slices.run(readJsonInSteps(withMember(sent?.text ?? text, 'status', JSON.stringify(to))));
      },
      { method: 'PUT', reach },
    );
    const { resource: stored } = await patched.catch((error: unknown) => {
      throw refusalOf(error, id, paramOf(sent));
    });
    if (found === undefined) throw new Error('A document was changed unseen');
    return { ...found, stored };
  }
}

/** A document from a dry run, with version and time of the stored one. */
export function withMetaOf(before: string, { text }: StoredResource): string {
  const present = memberText(before, 'meta') ?? '{}';
  const leading = ['versionId', 'lastUpdated'].map((key) => [key, memberText(present, key) ?? 'null'] as const);
  return withMember(text, 'meta', withLeadingMembers(memberText(text, 'meta') ?? '{}', leading));
}

/** The param that identifies the document: calls that send a body identify it there. */
const paramOf = (sent: SentContent | undefined): ParamPath => (sent === undefined ? ['id'] : ['document', 'id']);

function assertUnchanged(storedText: string, versionId: string): void {
  const stored = (JSON.parse(memberText(storedText, 'meta') ?? '{}') as { readonly versionId?: string }).versionId;
  if (stored === versionId) return;
  throw new RpcRefusal(
    `The document was changed meanwhile: the stored version is ${stored ?? ''}, not ${versionId}. Read it again and repeat the change.`,
    { code: 'document-version', type: 'sdc.error/version' },
  );
}

/** Converts refusals of rules and validation to the form of the companion methods. */
function refusalOf(error: unknown, id: string, path: ParamPath): unknown {
  if (!(error instanceof ServiceError) || error instanceof RpcRefusal) return error;
  if (error.kind === 'not-found' || error.kind === 'gone')
    return targetNotFound({ id, resourceType: 'SDCDocument' }, path);
  if (error.kind !== 'unprocessable') return error;
  const { expression = 'SDCDocument', issues = [{ expression, diagnostics: error.message }] } = error.details;
  const errors = issues.map((issue) => ({
    path: [
      'document',
      ...issue.expression
        .split(/[.[\]]+/)
        .filter((step) => step !== '')
        .slice(1),
    ],
    message: issue.diagnostics,
  }));
  return new RpcRefusal(error.message, { code: 'document-content-invalid', type: 'sdc.error/validation', errors });
}
