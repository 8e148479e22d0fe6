import { Module } from '@nestjs/common';
import { AuthModule } from '../../../src/auth/auth.module';
import { ResourceModule } from '../../../src/resource/resource.module';
import { SessionModule } from '../../../src/session/session.module';
import { FileDropKind } from './file-drop.kind';
import { HandOver } from './hand-over.method';
import { ReadOnlyEngine } from './read-only.engine';
import { SignedDocumentListener } from './signed-document.listener';
import { TokenExchangeGrant } from './token-exchange.grant';
import { WardBoardController } from './ward-board.controller';
import { WardCensus } from './ward-census.operation';
import { WardResourceType } from './ward.resource-type';
import { WardRule } from './ward.rule';

const handlers = [FileDropKind, HandOver, ReadOnlyEngine, SignedDocumentListener, TokenExchangeGrant, WardCensus];

@Module({
  imports: [AuthModule, ResourceModule, SessionModule],
  controllers: [WardBoardController],
  providers: [...handlers, WardResourceType, WardRule],
})
export class WardModule {}
