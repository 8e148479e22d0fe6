import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { ResourceModule } from '../resource/resource.module';
import { AnswerAuditMiddleware } from './answer-audit.middleware';
import { AuditEventRule } from './audit-event.rule';
import { AuditTrail } from './audit-trail';
import { ChangeAuditListener } from './change-audit.listener';

@Module({
  imports: [ResourceModule],
  providers: [AuditEventRule, AuditTrail, ChangeAuditListener],
  exports: [AuditTrail],
})
export class AuditModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(AnswerAuditMiddleware).forRoutes('{*path}');
  }
}
