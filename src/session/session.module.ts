import { Module } from '@nestjs/common';
import { ResourceModule } from '../resource/resource.module';
import { SessionLinks } from './session-links';
import { SessionSweeper } from './session-sweeper';
import { SessionOwnerListener } from './session-owner.listener';
import { SessionTokens } from './session-tokens.repository';
import { SessionController } from './session.controller';
import { SessionRule } from './session.rule';
import { Sessions } from './sessions';

/**
 * Exports {@link Sessions}, for modules that open or close Sessions.
 * @example
 * &#64;Module({ imports: [SessionModule] })
 * export class ShiftModule {}
 */
@Module({
  imports: [ResourceModule],
  controllers: [SessionController],
  providers: [Sessions, SessionLinks, SessionTokens, SessionSweeper, SessionRule, SessionOwnerListener],
  exports: [Sessions, SessionLinks, SessionTokens],
})
export class SessionModule {}
