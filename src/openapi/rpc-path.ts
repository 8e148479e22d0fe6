import examples from './examples.json';
import { type RpcMethodDefinition } from '../rpc/rpc-method';
import { MAX_BATCH_CALLS } from '../rpc/rpc.controller';
import { type RpcRegistry } from '../rpc/rpc.registry';
import { type Paths, REFUSALS } from './path-item';

/** `POST /rpc` with an example of each registered method, and what it is answered with. */
export function rpcPath(registry: RpcRegistry): Paths {
  // By name: the order in which modules bring them is not the same at each start.
  const methods = registry
    .all()
    .map(({ meta }) => meta)
    .sort((a, b) => (a.method < b.method ? -1 : 1));
  const call = {
    type: 'object',
    required: ['method'],
    properties: {
      method: { type: 'string', enum: methods.map(({ method }) => method) },
      params: { type: 'object' },
    },
  };
  return {
    '/rpc': {
      post: {
        tags: ['RPC'],
        summary: 'Calls a method, or several in order',
        description: `The body is {"method", "params"}, or an array of up to ${MAX_BATCH_CALLS} such calls, each a transaction of its own.\n\n${methods
          .map(({ method, description }) => `- \`${method}\`: ${description}`)
          .join('\n')}`,
        parameters: [{ $ref: '#/components/parameters/topicCorrelation' }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { oneOf: [call, { type: 'array', maxItems: MAX_BATCH_CALLS, items: call }] },
              examples: { ...examplesOf(methods, callOf), ...examples.rpcCalls },
            },
          },
        },
        responses: {
          '200': {
            description: '{"result"}; for an array of calls an array of {"result"} or {"error"}, in their order',
            content: {
              'application/json': {
                examples: { ...examplesOf(methods.filter(hasAnswer), answerTo), ...examples.rpcAnswers },
              },
            },
          },
          '422': {
            description: '{"error": {"message", "type"?, "errors"?}}: the method refuses',
            content: { 'application/json': { examples: examples.rpcRefusals } },
          },
          ...REFUSALS,
        },
      },
    },
  };
}

type Examples = Record<string, { summary: string; value: unknown }>;

function examplesOf(
  methods: readonly RpcMethodDefinition[],
  valueOf: (method: RpcMethodDefinition) => unknown,
): Examples {
  return Object.fromEntries(
    methods.map((method) => [method.method, { summary: method.description, value: valueOf(method) }] as const),
  );
}

const callOf = ({ method, example = {} }: RpcMethodDefinition): unknown => ({ method, params: example });

const hasAnswer = ({ exampleResult }: RpcMethodDefinition): boolean => exampleResult !== undefined;

const answerTo = ({ exampleResult }: RpcMethodDefinition): unknown => ({ result: exampleResult });
