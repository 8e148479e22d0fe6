import { type RpcRegistry } from '../rpc/rpc.registry';
import { type Paths, REFUSALS } from './path-item';

/** `POST /rpc` with one example per registered method. */
export function rpcPath(registry: RpcRegistry): Paths {
  const methods = registry.all().map(({ meta }) => meta);
  const examples = methods.map(
    ({ method, description, example = {} }) =>
      [method, { summary: description, value: { method, params: example } }] as const,
  );
  return {
    '/rpc': {
      post: {
        tags: ['RPC'],
        summary: 'Calls a method, or several in order',
        description: `The body is {"method", "params"}, or an array of such calls, each a transaction of its own.\n\n${methods
          .map(({ method, description }) => `- \`${method}\`: ${description}`)
          .join('\n')}`,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['method'],
                properties: {
                  method: { type: 'string', enum: methods.map(({ method }) => method) },
                  params: { type: 'object' },
                },
              },
              examples: Object.fromEntries(examples),
            },
          },
        },
        responses: {
          '200': { description: '{"result"}; for an array of calls an array of {"result"} or {"error"}' },
          '422': { description: '{"error": {"message", "type"?, "errors"?}}: the method refuses' },
          ...REFUSALS,
        },
      },
    },
  };
}
