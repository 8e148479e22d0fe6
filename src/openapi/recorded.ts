import answers from './answers.json';

/**
 * The responses to the examples, by the id of an operation or the name of an RPC method.
 * `test/docs/examples.e2e-spec.ts` records these responses.
 */
export const RECORDED: Readonly<Record<string, object | undefined>> = answers;
