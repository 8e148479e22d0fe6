import { Module } from '@nestjs/common';
import { ResourceModule } from '../resource/resource.module';
import { RefreshTokens } from './refresh-tokens.repository';
import { SessionGroups } from './session-groups';
import { SessionSweeper } from './session-sweeper';
import { SessionEndListener } from './session-end.listener';
import { SessionOwnerListener } from './session-owner.listener';
import { SessionTokens } from './session-tokens.repository';
import { SessionController } from './session.controller';
import { SessionResourceType } from './session.resource-type';
import { SessionRule } from './session.rule';
import { Sessions } from './sessions';

@Module({
  imports: [ResourceModule],
  controllers: [SessionController],
  providers: [
    Sessions,
    SessionGroups,
    SessionTokens,
    RefreshTokens,
    SessionSweeper,
    SessionResourceType,
    SessionRule,
    SessionEndListener,
    SessionOwnerListener,
  ],
  exports: [Sessions, SessionGroups, SessionTokens, RefreshTokens],
})
export class SessionModule {}
