import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, BringsMigrations, ResourceModule, SessionModule } from 'svc-health-server';
import { createHandOvers } from './create-hand-overs.migration';
import { EncounterRule } from './encounter.rule';
import { FileDropKind } from './file-drop.kind';
import { ForgetHandOvers } from './forget-hand-overs.task';
import { HandOverRow } from './hand-over.entity';
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
const handlers = [
  ForgetHandOvers,
  HandOver,
  ReadOnlyEngine,
  SignedDocumentListener,
  TokenExchangeGrant,
  WardCensus,
  WardMetrics,
];

@BringsMigrations({ prefix: 'acme_ward', migrations: [createHandOvers] })
@Module({
  imports: [TypeOrmModule.forFeature([HandOverRow]), AuthModule, ResourceModule, SessionModule],
  controllers: [WardBoardController],
  providers: [...kinds, ...handlers, EncounterRule, WardResourceType, WardRule],
})
export class WardModule {}
