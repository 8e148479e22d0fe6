import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { memberText, withLeadingMembers, withMember } from '../../platform/json/json-members';
import { readJsonInSteps } from '../../platform/json/read-json';
import { Slices } from '../../platform/time/slices';
import { ResourceWriter } from '../../resource/resource-writer';
import { RowLimits } from '../../resource/rows/row-limits';
import { type StoredResource } from '../../model/stored-resource';
import { RpcRefusal } from '../../rpc/rpc-refusal';
import { Addenda, type ParamPath, targetNotFound } from '../store/addenda';
import { type DocumentStatus, statusAfter, type Transition } from './document-status';

/** The body that a caller sends to replace a stored document, and its version. */
export interface SentContent {
  /** The whole body as JSON text. A status in it is ignored. */
  readonly text: string;
  /** The version that the caller has read, if the body names it in `meta.versionId`. */
  readonly versionId: string | undefined;
}

export interface ChangedDocument {
  readonly before: string;
  readonly from: unknown;
  readonly to: DocumentStatus;
  readonly stored: StoredResource;
}

/** The error that rolls back a dry run without faults. */
class DryRunEnd extends Error {}

/** Changes documents by the writer of the REST API, so rules, history, events, audit and the row filter apply. */
@Injectable()
export class Documents {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly limits: RowLimits,
    private readonly addenda: Addenda,
    private readonly slices: Slices,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs a call as one transaction. A dry run checks and writes everything too, and then rolls back. */
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

  /** Like {@link change}, in an open unit of work. First locks the document against calls that write its addenda. */
  async changeHeld(id: string, transition: Transition, sent?: SentContent): Promise<ChangedDocument> {
    await this.addenda.holdTarget({ id, resourceType: 'SDCDocument' }, paramOf(sent));
    return this.change(id, transition, sent);
  }

  /**
   * Gives a document its next status while its row is locked, and replaces its content if content was sent. If neither
   * status nor content changes, no new version is created.
   * @throws RpcRefusal when the document is not stored, is in a status that the method does not accept, was changed
   * since the caller read it, or violates a rule; ServiceError 'forbidden' when the caller may not write the result
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

/** Returns the document of a dry run, which stored nothing, with the version and time of the stored document. */
export function withMetaOf(before: string, { text }: StoredResource): string {
  const present = memberText(before, 'meta') ?? '{}';
  const leading = ['versionId', 'lastUpdated'].map((key) => [key, memberText(present, key) ?? 'null'] as const);
  return withMember(text, 'meta', withLeadingMembers(memberText(text, 'meta') ?? '{}', leading));
}

/** The path of the param that identifies the document: `document.id` for calls that send a body, else `id`. */
const paramOf = (sent: SentContent | undefined): ParamPath => (sent === undefined ? ['id'] : ['document', 'id']);

function assertUnchanged(storedText: string, versionId: string): void {
  const stored = (JSON.parse(memberText(storedText, 'meta') ?? '{}') as { readonly versionId?: string }).versionId;
  if (stored === versionId) return;
  throw new RpcRefusal(
    `The document was changed meanwhile: the stored version is ${stored ?? ''}, not ${versionId}. Read it again and repeat the change.`,
    { code: 'document-version', type: 'sdc.error/version' },
  );
}

/** Converts errors of the writer, its rules and validation to the RPC errors of the methods in this folder. */
function refusalOf(error: unknown, id: string, path: ParamPath): unknown {
  if (!(error instanceof ServiceError) || error instanceof RpcRefusal) return error;
  if (error.kind === 'not-found' || error.kind === 'gone')
    return targetNotFound({ id, resourceType: 'SDCDocument' }, path);
  if (error.kind !== 'unprocessable') return error;
  const { expression = 'SDCDocument', issues = [{ expression, diagnostics: error.message }] } = error.details;
  const errors = issues.map((issue) => {
    const [, ...steps] = issue.expression.split(/[.[\]]+/).filter((step) => step !== '');
    return { path: ['document', ...steps], message: issue.diagnostics };
  });
  return new RpcRefusal(error.message, { code: 'document-content-invalid', type: 'sdc.error/validation', errors });
}
