import type { Connection } from './connection.js';
import { valuesOf } from './parameters.js';
import type { Reference, RpcMethod, RpcParams, RpcResult, Schemas } from './types.js';

type CallRpc = <Method extends RpcMethod>(method: Method, params: RpcParams<Method>) => Promise<RpcResult<Method>>;

export interface AmendmentsLink {
  readonly url: string;
  readonly expires: string;
}

/** Notes, comments, snapshots and amendments of documents and workflows. */
export class Addenda {
  constructor(
    private readonly rpc: CallRpc,
    private readonly connection: Connection,
  ) {}

  /** Lists all addenda of a target, oldest first. */
  list(target: RpcParams<'svc.sdc.addendum/get-addendums'>['target']): Promise<Schemas['SDCAddendum'][]> {
    return this.rpc('svc.sdc.addendum/get-addendums', { target });
  }

  /** Adds a Note to a document or workflow that is completed or amended. */
  addNote(params: RpcParams<'svc.sdc.addendum/add-note'>): Promise<Schemas['SDCNote']> {
    return this.rpc('svc.sdc.addendum/add-note', params);
  }

  /** Adds an informal Comment, whatever the status of the target is. */
  addComment(params: RpcParams<'svc.sdc.addendum/add-comment'>): Promise<Schemas['SDCComment']> {
    return this.rpc('svc.sdc.addendum/add-comment', params);
  }

  /** Adds an addendum of a type that you defined. */
  create(addendum: RpcParams<'svc.sdc.addendum/create-addendum'>['addendum']): Promise<Schemas['SDCAddendum']> {
    return this.rpc('svc.sdc.addendum/create-addendum', { addendum });
  }

  /** Records the status of a document or workflow. If its signed content is new, a snapshot is stored too. */
  addToHistory(params: RpcParams<'svc.sdc.addendum/add-to-history'>): Promise<Schemas['SDCHistory']> {
    return this.rpc('svc.sdc.addendum/add-to-history', params);
  }

  /** Stores the difference between the two latest snapshots as an Amendment; null if there are fewer than two. */
  createAmendment(params: RpcParams<'svc.sdc.addendum/create-amendment'>): Promise<Schemas['SDCAmendment'] | null> {
    return this.rpc('svc.sdc.addendum/create-amendment', params) as Promise<Schemas['SDCAmendment'] | null>;
  }

  /**
   * A link that opens the page of amendments in a browser. It works once and within 60 s. The caller must have logged
   * in; with HTTP Basic there is no link.
   */
  async amendmentsLink({ resourceType, id }: Reference): Promise<AmendmentsLink> {
    const path = `/fhir/${resourceType}/${encodeURIComponent(id)}/$amendments-link`;
    const { parameter } = await this.connection.json<Schemas['SDCDocumentAmendmentsLinkAnswer']>('POST', path);
    return valuesOf<AmendmentsLink>(parameter);
  }

  /** Checks that the addenda of a target are unchanged since they were recorded. */
  verify(target: RpcParams<'svc.sdc.addendum/verify'>['target']): Promise<Schemas['SDCVerification']> {
    return this.rpc('svc.sdc.addendum/verify', { target });
  }
}

export const isNote = (addendum: Schemas['SDCAddendum']): addendum is Schemas['SDCNote'] =>
  addendum.type === 'svc.sdc.addendum/Note';
export const isComment = (addendum: Schemas['SDCAddendum']): addendum is Schemas['SDCComment'] =>
  addendum.type === 'svc.sdc.addendum/Comment';
export const isHistory = (addendum: Schemas['SDCAddendum']): addendum is Schemas['SDCHistory'] =>
  addendum.type === 'svc.sdc.addendum/History';
export const isAmendment = (addendum: Schemas['SDCAddendum']): addendum is Schemas['SDCAmendment'] =>
  addendum.type === 'svc.sdc.addendum/Amendment';

export const document = (id: string): Reference & { resourceType: 'SDCDocument' } => ({
  resourceType: 'SDCDocument',
  id,
});
export const workflow = (id: string): Reference & { resourceType: 'SDCWorkflow' } => ({
  resourceType: 'SDCWorkflow',
  id,
});
export const user = (id: string): Reference & { resourceType: 'User' } => ({ resourceType: 'User', id });
