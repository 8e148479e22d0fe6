import { createHash } from 'node:crypto';
import { type RequestHandler } from 'express';
import { type Environment } from '../platform/config/environment';
import { pagePolicy } from '../platform/http/security-headers';
import { softwareVersion } from '../platform/software-version';

const STYLE = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:40rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif}
dt{margin-top:1rem;font-weight:600}dd{margin:0}`;

const HEADERS = {
  ...pagePolicy(`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`),
  'Cache-Control': 'no-cache',
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept, Authorization',
};

/**
 * Handler of `GET /` that answers a browser with a page of links to what is public. A request with credentials or a
 * query comes from a client that searches all types, and is passed on.
 */
export function frontPage({ hasApiDocs, hasConsole }: Environment, hasSite: boolean): RequestHandler {
  const page = frontPageHtml([
    ...(hasConsole
      ? [['console/', 'Console', 'Sign in to look at deliveries, records, access and searches.'] as const]
      : []),
    ...(hasSite ? [['docs/', 'Documentation', 'Tutorials, how-tos, reference and explanations.'] as const] : []),
    ...(hasApiDocs
      ? ([
          ['api', 'API', 'Swagger UI: read about every call, log in and try it.'],
          ['api-json', 'OpenAPI document', 'For generators of clients.'],
        ] as const)
      : []),
    ['metadata?_format=json', 'Capabilities', 'The FHIR CapabilityStatement: resource types, searches and operations.'],
    ['health', 'Health', 'Whether the server can answer.'],
  ]);
  return (request, response, next) => {
    if (request.url !== '/' || request.headers.authorization !== undefined || !isBrowser(request)) {
      next();
      return;
    }
    response.set(HEADERS).end(page);
  };
}

/** Whether a request comes from a browser. Browsers prefer HTML; a client that accepts any format gets JSON. */
const isBrowser = (request: Parameters<RequestHandler>[0]): boolean =>
  request.accepts(['application/fhir+json', 'application/json', 'text/html']) === 'text/html';

/** The page. Its links are relative, since a proxy may serve this server below a path. */
const frontPageHtml = (links: readonly (readonly [path: string, name: string, description: string])[]): string =>
  `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Healthcare data server</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Healthcare data server</h1>
<p>Version ${softwareVersion()}: FHIR R4 resources, signed records, and webhooks that arrive.</p>
<dl>
${links.map(([path, name, description]) => `<dt><a href="./${path}">${name}</a></dt><dd>${description}</dd>`).join('\n')}
</dl>
</main>
</body>
</html>
`;
