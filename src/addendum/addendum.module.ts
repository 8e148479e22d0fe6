import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ResourceModule } from '../resource/resource.module';
import { RpcModule } from '../rpc/rpc.module';
import { Addenda } from './addenda';
import { AddendumEntries } from './addendum-entries.repository';
import { AddendumEntryEntity } from './addendum-entry.entity';
import { Amendments } from './amendments';
import { Authors } from './authors';
import { AddComment } from './methods/add-comment';
import { AddNote } from './methods/add-note';
import { AddToHistory } from './methods/add-to-history';
import { CreateAddendum } from './methods/create-addendum';
import { CreateAmendment } from './methods/create-amendment';
import { GetAddendums } from './methods/get-addendums';
import { SdcAddendumResourceType } from './sdc-addendum.resource-type';
import { SdcDocumentResourceType } from './sdc-document.resource-type';
import { SdcWorkflowResourceType } from './sdc-workflow.resource-type';
import { StatusHistory } from './status-history';
import { UserAddenda } from './user-addenda';

const methods = [CreateAddendum, AddNote, AddComment, AddToHistory, CreateAmendment, GetAddendums];
const resourceTypes = [SdcAddendumResourceType, SdcDocumentResourceType, SdcWorkflowResourceType];

/** Notes, comments, history and amendments of structured documents and workflows (interface, "Addendum RPC"). */
@Module({
  imports: [ResourceModule, RpcModule, TypeOrmModule.forFeature([AddendumEntryEntity])],
  providers: [Addenda, UserAddenda, StatusHistory, Amendments, AddendumEntries, Authors, ...methods, ...resourceTypes],
})
export class AddendumModule {}
