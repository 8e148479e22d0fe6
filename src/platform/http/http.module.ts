import { Global, Module } from '@nestjs/common';
import { Clock } from '../time/clock';
import { Slices } from '../time/slices';
import { InnerRequests } from './inner-requests';
import { RequestContext } from './request-context';
import { Routes } from './routes';

/** The request context, the clock, slices of long work and the routes, for every module. */
@Global()
@Module({
  providers: [RequestContext, Clock, Slices, Routes, InnerRequests],
  exports: [RequestContext, Clock, Slices, Routes, InnerRequests],
})
export class HttpModule {}
