import { type RpcMethodDefinition } from '../rpc/rpc-method';
import { MAX_BATCH_CALLS } from '../rpc/rpc.controller';
import { type RpcRegistry } from '../rpc/rpc.registry';
import examples from './examples.json';
import { paramsSchema } from './params-schema';
import { headerParameter, type Paths } from './path-item';
import { RECORDED } from './recorded';
import { type Schema, schemaOfExample, schemaRef } from './schema';

const [CALL, ANSWER, ERROR] = ['RpcCall', 'RpcAnswer', 'RpcError'].map(schemaRef) as [Schema, Schema, Schema];

/** Describes `POST /rpc`, with an example of the call and of the response of each registered method. */
export function rpcPath(registry: RpcRegistry): Paths {
  const methods = sortedMethods(registry);
  return {
    '/rpc': {
      post: {
        operationId: 'rpc',
        tags: ['RPC'],
        summary: 'Calls a method, or several in order',
        description: `The body is {"method", "params"}, or an array of up to ${MAX_BATCH_CALLS} such calls, each in a separate transaction.\n\n${methods
          .map(({ method, description }) => `- \`${method}\`: ${description}`)
          .join('\n')}`,
        parameters: [
          { $ref: '#/components/parameters/topicCorrelation' },
          headerParameter(
            'Idempotency-Key',
            'A call that writes is carried out once: repeats with the same key are answered as the first, for 24 h',
          ),
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { anyOf: [CALL, { type: 'array', maxItems: MAX_BATCH_CALLS, items: CALL }] },
              examples: { ...examplesOf(methods, callOf), ...examples.rpcCalls },
            },
          },
        },
        responses: {
          '200': {
            description: '{"result"}; for an array of calls an array of {"result"} or {"error"}, in their order',
            content: {
              'application/json': {
                schema: { anyOf: [ANSWER, { type: 'array', items: { anyOf: [ANSWER, ERROR] } }] },
                examples: { ...examplesOf(methods, answerTo), ...examples.rpcAnswers },
              },
            },
          },
          '409': {
            description: 'The first call with this Idempotency-Key is running: repeat it after Retry-After seconds',
            content: { 'application/json': { schema: ERROR, examples: examples.rpcConflicts } },
          },
          '422': {
            description: '{"error": {"message", "type"?, "errors"?}}: the method refuses',
            content: { 'application/json': { schema: ERROR, examples: examples.rpcRefusals } },
          },
        },
      },
    },
  };
}

/** Schemas for the call of each method, distinguished by `method`, and for its result. */
export function rpcSchemas(registry: RpcRegistry): Record<string, Schema> {
  const methods = sortedMethods(registry);
  const calls = methods.map((definition) => [callName(definition.method), callSchema(definition)] as const);
  return {
    ...Object.fromEntries(calls),
    RpcCall: {
      oneOf: calls.map(([name]) => schemaRef(name)),
      discriminator: {
        propertyName: 'method',
        mapping: Object.fromEntries(methods.map(({ method }) => [method, schemaRef(callName(method)).$ref])),
      },
    },
    RpcResults: {
      type: 'object',
      description: 'The result of each method, by its name',
      properties: Object.fromEntries(methods.map((definition) => [definition.method, resultSchema(definition)])),
    },
    RpcAnswer: { type: 'object', required: ['result'], properties: { result: {} } },
  };
}

const callName = (method: string): string => `${pascal(method)}Call`;

/** The methods, sorted by name, since modules register them in a different order at each start. */
const sortedMethods = (registry: RpcRegistry): RpcMethodDefinition[] =>
  registry
    .all()
    .map(({ meta }) => meta)
    .sort((a, b) => (a.method < b.method ? -1 : 1));

function callSchema({ method, params, description }: RpcMethodDefinition): Schema {
  const schema = params === undefined ? { type: 'object', additionalProperties: true } : paramsSchema(params);
  return {
    type: 'object',
    description,
    required: ['method', ...('required' in schema ? ['params'] : [])],
    properties: { method: { type: 'string', enum: [method] }, params: schema },
  };
}

const resultSchema = ({ resultSchema: declared, exampleResult }: RpcMethodDefinition): Schema =>
  (declared as Schema | undefined) ?? schemaOfExample(exampleResult);

/** The name of a method in Pascal case: `svc.sdc/add-note` becomes `SvcSdcAddNote`. */
export const pascal = (name: string): string =>
  name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_all, letter: string) => letter.toUpperCase());

type Examples = Record<string, { summary: string; value: unknown }>;

/** The examples of the methods that have one. */
const examplesOf = (
  methods: readonly RpcMethodDefinition[],
  valueOf: (method: RpcMethodDefinition) => object | undefined,
): Examples =>
  Object.fromEntries(
    methods.flatMap((method) => {
      const value = valueOf(method);
      return value === undefined ? [] : [[method.method, { summary: method.description, value }] as const];
    }),
  );

const callOf = ({ method, example = {} }: RpcMethodDefinition): object => ({ method, params: example });

/** The answer to the example of a method: the one that the method declares, else the recorded one. */
const answerTo = ({ method, exampleResult }: RpcMethodDefinition): object | undefined =>
  exampleResult === undefined ? RECORDED[method] : { result: exampleResult };
