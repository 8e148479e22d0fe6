import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ResourceModule } from '../resource/resource.module';
import { RefreshTokenEntity } from './refresh-token.entity';
import { RefreshTokens } from './refresh-tokens.repository';
import { SessionEndListener } from './session-end.listener';
import { SessionOwnerListener } from './session-owner.listener';
import { SessionTokenEntity } from './session-token.entity';
import { SessionTokens } from './session-tokens.repository';
import { SessionController } from './session.controller';
import { SessionResourceType } from './session.resource-type';
import { SessionRule } from './session.rule';
import { Sessions } from './sessions';

@Module({
  imports: [ResourceModule, TypeOrmModule.forFeature([SessionTokenEntity, RefreshTokenEntity])],
  controllers: [SessionController],
  providers: [
    Sessions,
    SessionTokens,
    RefreshTokens,
    SessionResourceType,
    SessionRule,
    SessionEndListener,
    SessionOwnerListener,
  ],
  exports: [Sessions, RefreshTokens],
})
export class SessionModule {}
