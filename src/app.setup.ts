import { type NestExpressApplication } from '@nestjs/platform-express';
import { DiscoveryService, NestFactory } from '@nestjs/core';
import express, { type Express, type Request, type RequestHandler } from 'express';
import { AppModule, type AppOptions, CORE_MODULES } from './app.module';
import { CallerResolver } from './auth/caller/caller-resolver';
import { consolePages } from './console/console-pages';
import { refuseBrokenRequests } from './fhir/edge/broken-request';
import { assertModuleRoutes } from './module-routes';
import { frontPage } from './openapi/front-page';
import { setupOpenApi } from './openapi/openapi';
import { errorPages, sitePages } from './openapi/site-pages';
import { MemoryBudget } from './platform/admission/memory-budget';
import { Answers } from './platform/http/answers';
import { AppAdapter } from './platform/http/app-adapter';
import { refuseUndecodable } from './platform/http/encoded-text';
import { withoutForwardedPorts } from './platform/http/forwarded-for';
import { useOriginForm } from './platform/http/origin-form';
import { paceRequests } from './platform/http/pace-requests';
import { refuseRepeatedHost } from './platform/http/raw-request';
import { requestBodies } from './platform/http/request-bodies';
import { assertOneCopy } from './platform/discovery/package-copies';
import { BackgroundTasks } from './platform/background/background-tasks';
import { ANSWER_TERMS, type AnswerTerms } from './platform/http/send-body';
import { RequestContext } from './platform/request/request-context';
import { requestContext } from './platform/http/request-context.middleware';
import { Drain } from './platform/health/drain';
import { ContextLogger } from './platform/logging/context-logger';
import { MetricsServer } from './platform/metrics/metrics-server';
import { Slices } from './platform/time/slices';
import { InitBundle } from './rest/bundle/init-bundle';

/** Makes the application that the server and the specs run. The application does not listen yet. */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { environment, extensions = [] } = options;
  if (extensions.length > 0) assertOneCopy();
  const server = caseSensitive();
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(options), new AppAdapter(server), {
    bodyParser: false,
    bufferLogs: true,
    // With automatic flushes, Nest prints the buffered lines and the frames of an error that is thrown here, before the
    // caller prints its sentence.
    autoFlushLogs: false,
    abortOnError: false,
  });
  const requests = app.get(RequestContext);
  app.useLogger(new ContextLogger(environment.logLevel, requests));
  app.flushLogs();
  if (extensions.length > 0) assertModuleRoutes(app.get(DiscoveryService, { strict: false }), CORE_MODULES);
  app.use(requestContext(requests, app.get(MemoryBudget)));
  if (environment.trustedProxies.length > 0) {
    app.set('trust proxy', [...environment.trustedProxies]);
    app.use(withoutForwardedPorts);
  }
  app.use(app.get(Answers).watch);
  const terms: AnswerTerms = { stallSeconds: environment.streamStallSeconds, requests, slices: app.get(Slices) };
  app.setLocal(ANSWER_TERMS, terms);
  if (!environment.hasCompression) app.use(withoutCompression);
  // CORS is set up before bodies are read, so that the refusal of a body has the CORS headers too. Without them, a web
  // page could not read the refusal.
  if (environment.corsOrigins.length > 0) {
    app.enableCors((request: Request, setOptions: (error: null, options: object) => void) => {
      setOptions(null, corsOptionsOf(environment.corsOrigins, request.headers.origin));
    });
  }
  const callers = app.get(CallerResolver, { strict: false });
  const { bodyLimitBytes: limitBytes, streamStallSeconds: stallSeconds } = environment;
  const judge = async (request: Request): Promise<void> => {
    const { caller, epochs } = await callers.of(request);
    requests.identify(caller, epochs);
  };
  app.use(refuseRepeatedHost, refuseUndecodable);
  app.use(requestBodies(requests, { limitBytes, stallSeconds, judge }));
  app.disable('x-powered-by');
  app.set('etag', false); // resources carry their version as ETag; hashing whole answers would cost more than it saves
  const site = sitePages(environment);
  server.get('/', frontPage(environment, site !== undefined));
  for (const pages of [consolePages(environment), site ?? errorPages(environment)])
    if (pages !== undefined) app.use(pages.path, pages.handler);
  setupOpenApi(app, environment);
  return app;
}

/**
 * FHIR paths are case-sensitive (http://hl7.org/fhir/R4/http.html#general). If `/FHIR/…` matched too, links in its
 * responses would begin with another root than the client's.
 */
function caseSensitive(): Express {
  const server = express();
  server.set('case sensitive routing', true);
  return server;
}

/**
 * Pass the list for every origin, also for a foreign one: the response then has `Vary: Origin`, so that no cache gives
 * it to a page of another origin.
 */
const corsOptionsOf = (allowed: readonly string[], origin: string | undefined): object => ({
  origin: [...allowed],
  credentials: origin !== undefined && allowed.includes(origin),
  exposedHeaders: EXPOSED_HEADERS,
});

/** Headers that scripts of a page may read, in addition to those of the Fetch standard. */
const EXPOSED_HEADERS = [
  ...['Location', 'Content-Location', 'ETag', 'Preference-Applied', 'Allow', 'Accept-Patch', 'Link'],
  ...['Retry-After', 'Warning', 'WWW-Authenticate', 'X-Request-Id', 'X-Correlation-Id'],
];

const withoutCompression: RequestHandler = ({ headers }, _response, next) => {
  delete headers['accept-encoding'];
  next();
};

/**
 * Completes the work that must precede the first request, then opens the port.
 * @param hasMetrics whether this process serves the metrics; of several processes, only their parent does
 */
export async function listen(
  app: NestExpressApplication,
  port: number,
  host: string,
  hasMetrics = true,
): Promise<void> {
  await app.init();
  if (hasMetrics) await app.get(MetricsServer, { strict: false }).listen();
  await app.get(InitBundle, { strict: false }).apply();
  app.get(BackgroundTasks).start();
  const server = app.getHttpServer();
  // By default Node drops the headers after the thousandth, without an error. It would drop `X-Forwarded-For` of a
  // proxy, and the caller would have the address of the proxy. 16 KiB still limit the headers.
  server.maxHeadersCount = 0;
  paceRequests(server);
  useOriginForm(server);
  const drain = app.get(Drain, { strict: false });
  refuseBrokenRequests(server, (socket) => drain.responsesOn(socket));
  drain.watch(server);
  await app.listen(port, host);
}
