import { Global, Module } from '@nestjs/common';
import { Clock } from '../time/clock';
import { InnerRequests } from './inner-requests';
import { RequestContext } from './request-context';

/** The request context and the clock, for every module. */
@Global()
@Module({ providers: [RequestContext, Clock, InnerRequests], exports: [RequestContext, Clock, InnerRequests] })
export class HttpModule {}
