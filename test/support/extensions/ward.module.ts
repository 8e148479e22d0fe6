import { Module } from '@nestjs/common';
import { AuthModule } from '../../../src/auth/auth.module';
import { ResourceModule } from '../../../src/resource/resource.module';
import { SessionModule } from '../../../src/session/session.module';
import { FileDropKind } from './file-drop.kind';
import { HandOver } from './hand-over.method';
import { PagerKind } from './pager.kind';
import { ReadOnlyEngine } from './read-only.engine';
import { SignedDocumentListener } from './signed-document.listener';
import { TokenExchangeGrant } from './token-exchange.grant';
import { WardBoardController } from './ward-board.controller';
import { WardCensus } from './ward-census.operation';
import { WardMetrics } from './ward.metrics';
import { WardResourceType } from './ward.resource-type';
import { WardRule } from './ward.rule';

const kinds = [FileDropKind, PagerKind];
const handlers = [HandOver, ReadOnlyEngine, SignedDocumentListener, TokenExchangeGrant, WardCensus, WardMetrics];

@Module({
  imports: [AuthModule, ResourceModule, SessionModule],
  controllers: [WardBoardController],
  providers: [...kinds, ...handlers, WardResourceType, WardRule],
})
export class WardModule {}
