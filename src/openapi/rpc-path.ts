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
              examples: { ...examplesOf(methods, callOf), ...BATCH },
            },
          },
        },
        responses: {
          '200': {
            description: '{"result"}; for an array of calls an array of {"result"} or {"error"}, in their order',
            content: {
              'application/json': { examples: { ...examplesOf(methods.filter(hasAnswer), answerTo), ...BATCH_ANSWER } },
            },
          },
          '422': {
            description: '{"error": {"message", "type"?, "errors"?}}: the method refuses',
            content: { 'application/json': { examples: REFUSED } },
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

const BATCH: Examples = {
  batch: {
    summary: 'Several calls: one that fails undoes none of the others.',
    value: [{ method: 'svc/echo', params: { text: 'hello' } }, { method: 'svc/ecco' }],
  },
};

const BATCH_ANSWER: Examples = {
  batch: {
    summary: 'An answer for each call, in their order.',
    value: [
      { result: { text: 'hello' } },
      { error: { message: 'Method svc/ecco not found. Did you mean "svc/echo"?' } },
    ],
  },
};

const REFUSED: Examples = {
  'unknown target': {
    summary: 'Not stored, or not for this caller',
    value: { error: { message: 'Resource not found' } },
  },
  'bad params': {
    summary: 'All members at fault, by their paths',
    value: {
      error: { message: 'Invalid params', errors: [{ path: ['target', 'id'], message: 'id is required' }] },
    },
  },
  'wrong status': {
    summary: 'A refusal with a code',
    value: {
      error: {
        message: 'A document that is draft cannot be amended, only one that is completed, amended, in-amendment.',
        type: 'sdc.error/status',
      },
    },
  },
};
