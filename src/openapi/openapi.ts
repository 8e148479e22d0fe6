import { type NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type NextFunction, type Request, type Response } from 'express';
import { TopicCorrelationGuard } from '../delivery/topic-correlation.guard';
import { type Environment } from '../platform/config/environment';
import { pagePolicy } from '../platform/http/security-headers';
import { softwareVersion } from '../platform/software-version';
import { OperationRegistry } from '../operation/operation.registry';
import { RpcRegistry } from '../rpc/rpc.registry';
import { commonParameters, withCommonParts } from './common-parts';
import { operationPaths } from './operation-paths';
import { type Paths, withRefusals } from './path-item';
import { resourcePaths } from './resource-paths';
import { rpcPath } from './rpc-path';
import { SCHEMAS } from './schemas';
import { tourPaths } from './tour-paths';

/** Swagger UI on /api and the document on /api-json, unless `SVC_API_DOCS` is off; both are served from packages and work offline. */
export function setupOpenApi(app: NestExpressApplication, environment: Environment): void {
  if (!environment.hasApiDocs) return;
  const policy = pagePolicy(swaggerSources(environment.baseUrl));
  const correlation = app.get(TopicCorrelationGuard, { strict: false });
  app.use(['/api', '/api-json'], (request: Request, response: Response, next: NextFunction) => {
    correlation.take(request);
    response.set(policy);
    next();
  });
  SwaggerModule.setup('api', app, () => document(app, environment), {
    jsonDocumentUrl: 'api-json',
    raw: ['json'],
    customSiteTitle: 'Healthcare data server',
    swaggerOptions: {
      tryItOutEnabled: true,
      docExpansion: 'list',
      displayRequestDuration: true,
      validatorUrl: null, // else each visit sends this address to validator.swagger.io
    },
  });
}

/** Sources that Swagger UI needs: its files, style attributes, pictures in its style sheet, and this server by its public address. */
const swaggerSources = (baseUrl: string): string =>
  `script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ${new URL(baseUrl).origin}`;

/** Both flows send the client by Basic or in the body, as the form of Swagger UI is set, and the token comes back. */
const TOKEN_FLOW = { tokenUrl: '/auth/token', refreshUrl: '/auth/token', scopes: {} };

function document(app: NestExpressApplication, environment: Environment): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Healthcare data server')
    .setDescription(
      'FHIR R4 resources, tokens and sessions, addenda on signed records, Patient/$everything, and webhooks that arrive. ' +
        'Press Authorize and log in with a user and a client of the password grant, or with the Client `root` by Basic.',
    )
    .setVersion(softwareVersion())
    .addServer(environment.baseUrl)
    .addOAuth2({ type: 'oauth2', flows: { password: TOKEN_FLOW, clientCredentials: TOKEN_FLOW } }, 'oauth2')
    .addBasicAuth(
      { type: 'http', scheme: 'basic', description: 'A Client with `basic` among its grant_types' },
      'basic',
    )
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An access token from POST /auth/token' }, 'bearer')
    .addTag('Tokens', 'Clients, users, policies, and the token endpoint (RFC 6749)')
    .addTag('Sessions', 'One Session per access token')
    .addTag('RPC', 'Addenda on signed documents and workflows')
    .addTag('Operations')
    .addTag('Topics', 'Webhooks that get the events of a topic, at least once')
    .addTag('Resources', 'Every resource type, on /fhir/… and, alike, without /fhir')
    .addTag('Server')
    .addSecurityRequirements('oauth2')
    .addSecurityRequirements('basic')
    .addSecurityRequirements('bearer')
    .build();
  const made = SwaggerModule.createDocument(app, config);
  const paths = withCommonParts(
    mergedPaths([
      withRefusals(tourPaths()),
      made.paths,
      rpcPath(app.get(RpcRegistry, { strict: false })),
      withRefusals(operationPaths(app.get(OperationRegistry, { strict: false }))),
      withRefusals(resourcePaths()),
    ]),
  );
  const components = {
    ...made.components,
    schemas: { ...made.components?.schemas, ...SCHEMAS },
    parameters: { ...made.components?.parameters, ...commonParameters(environment) },
  };
  return { ...made, paths, components };
}

/** Joins the methods of a path that several sources describe. */
function mergedPaths(sources: readonly Paths[]): Paths {
  const merged: Paths = {};
  for (const source of sources) {
    for (const [path, item] of Object.entries(source)) merged[path] = { ...merged[path], ...item };
  }
  return merged;
}
