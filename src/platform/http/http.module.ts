import { Global, Module } from '@nestjs/common';
import { Clock } from '../time/clock';
import { RequestContext } from './request-context';

/** The request context and the clock, for every module. */
@Global()
@Module({ providers: [RequestContext, Clock], exports: [RequestContext, Clock] })
export class HttpModule {}
