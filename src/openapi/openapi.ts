import { type NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type NextFunction, type Request, type Response } from 'express';
import { Grants } from '../auth/grants/grant.registry';
import { TopicCorrelationGuard } from '../delivery/topic-correlation.guard';
import { type Environment } from '../platform/config/environment';
import { pagePolicy } from '../platform/http/security-headers';
import { apiPages } from './api-pages';
import { softwareVersion } from '../platform/software-version';
import { ResourceTypes } from '../model/resource-types';
import { OperationRegistry } from '../operation/operation.registry';
import { RpcRegistry } from '../rpc/rpc.registry';
import { commonParameters, withCommonParts } from './common-parts';
import { completed } from './completed';
import { operationPaths, operationSchemas } from './operation-paths';
import { mapOperations, type Paths, withRefusals } from './path-item';
import { resourcePaths } from './resource-paths';
import { resourceSchemas } from './resource-schemas';
import { rpcPath, rpcSchemas } from './rpc-path';
import { type Schema } from './schema';
import { SCHEMAS } from './schemas';
import { tourPaths } from './tour-paths';

/**
 * Serves Swagger UI on /api and the document on /api-json, unless `SVC_API_DOCS` is off. The files of Swagger UI come
 * from installed packages, so the page works offline.
 */
export function setupOpenApi(app: NestExpressApplication, environment: Environment): void {
  if (!environment.hasApiDocs) return;
  const policy = pagePolicy(swaggerSources(environment.baseUrl));
  const correlation = app.get(TopicCorrelationGuard, { strict: false });
  const pages = apiPages(() => document(app, environment));
  app.use(['/api', '/api-json'], (request: Request, response: Response, next: NextFunction) => {
    correlation.take(request);
    response.set(policy);
    pages(request, response, next);
  });
}

/**
 * The content security policy that Swagger UI needs: its own files, style attributes, the images of its style sheet,
 * and requests to the public address of this server.
 */
const swaggerSources = (baseUrl: string): string =>
  `script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ${new URL(baseUrl).origin}`;

/**
 * Addresses that both OAuth flows have. Both send the credentials of the Client by Basic or in the body, as the form of
 * Swagger UI says.
 */
const TOKEN_FLOW = { tokenUrl: '/auth/token', refreshUrl: '/auth/token', scopes: {} };

function document(app: NestExpressApplication, environment: Environment): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Healthcare data server')
    .setDescription(
      'FHIR R4 resources, tokens and sessions, addenda on signed records, Patient/$everything, and webhooks that arrive. ' +
        'Press Authorize and log in with a user and a client of the password grant, or with the Client `root` by Basic. ' +
        'A new embedded database has the user `admin` and the client `console`, which needs no secret.',
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
    .addTag('Access', 'Why a request is granted or denied')
    .addTag('Operations', 'Operations of FHIR and of this server')
    .addTag('Topics', 'Webhooks that get the events of a topic, at least once')
    .addTag('Resources', 'Every resource type, on /fhir/… and, alike, without /fhir')
    .addTag('Server', 'Health and capabilities')
    .addSecurityRequirements('oauth2')
    .addSecurityRequirements('basic')
    .addSecurityRequirements('bearer')
    .build();
  const made = SwaggerModule.createDocument(app, config);
  const rpc = app.get(RpcRegistry, { strict: false });
  const operations = app.get(OperationRegistry, { strict: false });
  const schemas = {
    ...made.components?.schemas,
    ...resourceSchemas(app.get(ResourceTypes, { strict: false })),
    ...SCHEMAS,
    ...operationSchemas(operations),
    ...rpcSchemas(rpc),
  };
  const paths = completed(
    withCommonParts(
      mergedPaths([
        withRefusals(tourPaths()),
        onOneRoot(withGrantTypes(made.paths, app.get(Grants, { strict: false }))),
        withRefusals(rpcPath(rpc)),
        withRefusals(operationPaths(operations)),
        withRefusals(resourcePaths()),
      ]),
    ),
    schemas,
  );
  const components = {
    ...made.components,
    schemas,
    parameters: { ...made.components?.parameters, ...commonParameters(environment) },
  };
  return { ...made, paths, components };
}

/** Routes exist on two roots, `/fhir/…` and `/…`. The document describes such a route once. */
const onOneRoot = (paths: Paths): Paths =>
  Object.fromEntries(
    Object.entries(paths).filter(
      ([path]) => !path.startsWith('/fhir/') || paths[path.slice('/fhir'.length)] === undefined,
    ),
  );

interface TokenRequestBody {
  readonly content: Record<string, { readonly schema: { readonly properties: Record<string, Schema> } }>;
}

/** Describes the grant types of all modules at the token endpoint. */
const withGrantTypes = (paths: Paths, grants: Grants): Paths =>
  mapOperations(paths, (operation, path, method) => {
    if (path !== '/auth/token' || method !== 'post') return operation;
    for (const { schema } of Object.values((operation.requestBody as TokenRequestBody).content))
      schema.properties.grant_type = { type: 'string', enum: grants.all().map(({ meta }) => meta) };
    return operation;
  });

/** The paths of all sources. If several sources describe a path, its methods are merged. */
function mergedPaths(sources: readonly Paths[]): Paths {
  const merged: Paths = {};
  for (const source of sources) {
    for (const [path, item] of Object.entries(source)) merged[path] = { ...merged[path], ...item };
  }
  return merged;
}
