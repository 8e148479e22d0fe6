// Lints the OpenAPI document of a server that it starts on a temporary database. With a path, it also writes the
// document there: the client is generated from it (client/README.md).
const { writeFileSync } = require('node:fs');
const { withServer } = require('./with-server.cjs');

const RULES = {
  extends: ['recommended'],
  rules: {
    'info-license': 'off',
    'no-server-example.com': 'off',
    // `/fhir/Patient/{id}` is the same route as `/fhir/{type}/{id}`, with another example.
    'no-ambiguous-paths': 'off',
    // The calls to webhook receivers, and probes, have no 4xx response.
    'operation-4xx-response': 'off',
    // Resource types such as Account are for generators of clients, so no path uses them.
    'no-unused-components': 'off',
    'operation-operationId': 'error',
    'operation-operationId-unique': 'error',
    'operation-operationId-url-safe': 'error',
    'operation-tag-defined': 'error',
    'response-contains-header': 'off',
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    'no-invalid-schema-examples': 'error',
    'no-required-schema-properties-undefined': 'error',
    'no-schema-type-mismatch': 'error',
  },
};

async function main([target]) {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core');
  await withServer({ BASE_URL: 'http://localhost:3000' }, async (url) => {
    const source = await (await globalThis.fetch(`${url}/api-json`)).text();
    if (target !== undefined) writeFileSync(target, source);
    const problems = await lintFromString({ source, absoluteRef: '/api.json', config: await createConfig(RULES) });
    for (const { severity, ruleId, message, location } of problems) {
      console.log(`${severity} ${ruleId} ${location[0]?.pointer ?? ''}\n  ${message}`);
    }
    console.log(`${source.length} characters, ${problems.length} problems`);
    if (problems.length > 0) process.exitCode = 1;
  });
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
