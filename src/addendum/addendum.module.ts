import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { EntryAccessModule } from '../resource/access/entry-access.module';
import { RpcModule } from '../rpc/rpc.module';
import { SessionModule } from '../session/session.module';
import { Addenda } from './store/addenda';
import { AddendumEntries } from './chain/addendum-entries.repository';
import { Chains } from './chain/chains';
import { AmendDocument } from './documents/amend-document';
import { Documents } from './documents/documents';
import { SaveDocument } from './documents/save-document';
import { SignDocument } from './documents/sign-document';
import { AddComment } from './methods/add-comment';
import { AddDocumentNote, AddNote, AddWorkflowNote } from './methods/add-note';
import { AddToHistory } from './methods/add-to-history';
import { CreateAddendum } from './methods/create-addendum';
import { CreateAmendment } from './methods/create-amendment';
import { GetAddendums, GetWorkflowAddendums } from './methods/get-addendums';
import { Verify } from './methods/verify';
import { DocumentAmendments, WorkflowAmendments } from './page/amendments.operation';
import { DocumentAmendmentsLink, WorkflowAmendmentsLink } from './page/amendments-link.operation';
import { RecordReader } from './page/record-reader';
import { GrantedTargets } from './store/granted-targets';
import { SdcAddendumResourceType, SdcDocumentResourceType, SdcWorkflowResourceType } from './sdc.resource-types';
import { Revisions } from './store/revisions';
import { AddendumTypes } from './types/addendum-types';

const records = [Addenda, AddendumEntries, Chains, GrantedTargets, Revisions, AddendumTypes, Documents];
const addendumMethods = [CreateAddendum, AddNote, AddComment, AddToHistory, CreateAmendment, GetAddendums, Verify];
const documentMethods = [SaveDocument, SignDocument, AmendDocument, AddDocumentNote];
const workflowMethods = [AddWorkflowNote, GetWorkflowAddendums];
const recordPage = [
  RecordReader,
  DocumentAmendments,
  WorkflowAmendments,
  DocumentAmendmentsLink,
  WorkflowAmendmentsLink,
];
const resourceTypes = [SdcAddendumResourceType, SdcDocumentResourceType, SdcWorkflowResourceType];

/** Addenda of structured documents and workflows (interface specification, "Addendum RPC"). */
@Module({
  imports: [EntryAccessModule, OperationModule, ResourceModule, RpcModule, SessionModule],
  providers: [...records, ...addendumMethods, ...documentMethods, ...workflowMethods, ...recordPage, ...resourceTypes],
})
export class AddendumModule {}
