import { Global, Module } from '@nestjs/common';
import { Clock } from '../time/clock';
import { InnerRequests } from './inner-requests';
import { RequestContext } from './request-context';
import { Routes } from './routes';

/** The request context, the clock and the routes, for every module. */
@Global()
@Module({
  providers: [RequestContext, Clock, Routes, InnerRequests],
  exports: [RequestContext, Clock, Routes, InnerRequests],
})
export class HttpModule {}
