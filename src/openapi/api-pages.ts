import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type NextFunction, type RequestHandler } from 'express';
import { type OpenAPIObject } from '@nestjs/swagger';
import { lineageOf } from '../fhir/definitions/definitions';
import { PublicFile } from '../platform/http/public-file';
import { sentPathOf } from '../platform/http/raw-request';

/**
 * Script of the page that shows the document. It also scrolls the dialog for credentials to its first form, since
 * Swagger UI would put the focus into the last one.
 */
const SCRIPT = `window.ui = SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: document.getElementById('swagger-ui').dataset.url,
  tryItOutEnabled: true,
  docExpansion: 'list',
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // without this, each visit sends this address to validator.swagger.io
});
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.authorize')) return;
  requestAnimationFrame(() => {
    document.querySelector('.modal-ux-content')?.scrollTo(0, 0);
    document.getElementById('oauth_username')?.focus();
  });
});
`;

/** R4's types whose members the page shows: those in which operations return their result. */
const SHOWN = /^(?:Resource|Meta|Bundle|OperationOutcome|Parameters)(?:\.|$)/;

/**
 * The document for the page, in which most R4 types are objects without listed members. Swagger UI copies each schema
 * to every reference to this schema. With all data types of R4, this would never end.
 */
function forPeople(document: OpenAPIObject): object {
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => {
    if (lineageOf(name).length === 0 || SHOWN.test(name)) return [name, schema];
    const url = `http://hl7.org/fhir/R4/${name.toLowerCase().replace(/\..*/, '')}.html`;
    return [name, { type: 'object', externalDocs: { url } }];
  });
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) as object } };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Serves Swagger UI on `/api`, its files on `/api/<file>`, and the document on `/api-json`. The document is generated
 * at the first request. The handler must be mounted on these two paths.
 */
export function apiPages(makeDocument: () => OpenAPIObject): RequestHandler {
  let files: ReadonlyMap<string, PublicFile> | undefined;
  return (request, response, next) => {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      next();
      return;
    }
    files ??= publicFiles(makeDocument());
    const file = files.get(sentPathOf(request));
    if (file === undefined) next();
    else file.send(request, response).catch(next as NextFunction);
  };
}

function publicFiles(document: OpenAPIObject): ReadonlyMap<string, PublicFile> {
  // swagger-ui-dist is a dependency of @nestjs/swagger, and npm may install it inside the folder of that package.
  const paths = [require.resolve('@nestjs/swagger')];
  const folder = dirname(require.resolve('swagger-ui-dist/package.json', { paths }));
  const jsonOf = (value: object): PublicFile =>
    new PublicFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(value)));
  const json = jsonOf(document);
  const named: Record<string, PublicFile> = {
    'document.json': jsonOf(forPeople(document)),
    'swagger-ui-init.js': new PublicFile('text/javascript; charset=utf-8', Buffer.from(SCRIPT)),
  };
  for (const [name, mediaType] of Object.entries(MEDIA_TYPES))
    named[name] = new PublicFile(mediaType, readFileSync(join(folder, name)));
  const pageAt = (folderUrl: string): PublicFile => {
    const html = page((name) => `${folderUrl}${name}?v=${named[name]?.digest ?? ''}`);
    return new PublicFile('text/html; charset=utf-8', Buffer.from(html));
  };
  const inner = pageAt('./');
  return new Map([
    ['/api', pageAt('./api/')],
    ['/api/', inner],
    ['/api/index.html', inner],
    ['/api-json', json],
    ['/api-json/', json],
    ...Object.entries(named).map(([name, file]) => [`/api/${name}`, file] as const),
  ]);
}

const page = (urlOf: (name: string) => string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Healthcare data server</title>
<link rel="icon" type="image/png" href="${urlOf('favicon-32x32.png')}">
<link rel="stylesheet" href="${urlOf('swagger-ui.css')}">
</head>
<body>
<div id="swagger-ui" data-url="${urlOf('document.json')}"></div>
<script src="${urlOf('swagger-ui-bundle.js')}"></script>
<script src="${urlOf('swagger-ui-init.js')}"></script>
</body>
</html>
`;
