import { type Schema, schemaRef } from './schema';

const text = { type: 'string' } as const;
const list = (items: Schema): Schema => ({ type: 'array', items });
type Members = Readonly<Record<string, Schema>>;
const object = (required: readonly string[], properties: Members, more: Schema = {}): Schema => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required: [...required] }),
  properties,
  ...more,
});
const instant: Schema = { ...text, format: 'date-time' };
const reference = schemaRef('NativeReference');

/** The schema of an addendum of one type: the members that all addenda have, and `members`. */
const addendum = (type: Schema, required: readonly string[], members: Members, more: Schema = {}): Schema =>
  object(
    ['resourceType', 'id', 'meta', 'type', 'target', 'user', 'recorder', 'date', ...required],
    {
      resourceType: { ...text, enum: ['SDCAddendum'] },
      id: text,
      meta: schemaRef('NativeMeta'),
      type,
      target: reference,
      user: { ...reference },
      recorder: { ...reference },
      date: instant,
      ...members,
    },
    more,
  );
const kind = (name: string): Schema => ({ ...text, enum: [`svc.sdc.addendum/${name}`] });
const JSON_KINDS: Schema = {
  ...text,
  enum: ['number', 'boolean', 'null', 'object', 'array'],
  description: 'The kind of a value that is no string; the value itself is JSON text',
};

/** Schemas of JSON objects that no resource definition describes. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  NativeReference: object(['resourceType', 'id'], { resourceType: text, id: text, display: text }),
  NativeMeta: object(
    [],
    {
      versionId: { ...text, example: '1' },
      lastUpdated: instant,
      createdAt: { ...instant, description: 'Time of version 1' },
      source: text,
      profile: list(text),
      tag: list(schemaRef('Coding')),
      security: list(schemaRef('Coding')),
    },
    { description: 'versionId, lastUpdated and createdAt are the server’s; all else is kept as sent.' },
  ),
  SDCNote: addendum(kind('Note'), ['text'], { text, appointment: text }),
  SDCComment: addendum(kind('Comment'), ['text'], { text, path: list(text) }),
  SDCHistory: addendum(kind('History'), ['changed'], {
    changed: { type: 'boolean', description: 'Whether the body differs from the latest snapshot' },
    status: text,
    snapshot: { type: 'object', additionalProperties: true, description: 'Kept where a signed body is new' },
  }),
  SDCAmendment: addendum(kind('Amendment'), ['old-revision', 'new-revision', 'diff'], {
    'old-revision': reference,
    'new-revision': reference,
    diff: list(schemaRef('Diff')),
  }),
  SDCCustomAddendum: addendum(
    { ...text, example: 'acme.sdc.addendum/Handover', not: { pattern: '^svc\\.sdc\\.addendum/' } },
    [],
    {},
    { additionalProperties: true },
  ),
  SDCAddendum: {
    anyOf: ['SDCNote', 'SDCComment', 'SDCHistory', 'SDCAmendment', 'SDCCustomAddendum'].map(schemaRef),
  },
  Diff: object(['type', 'path'], {
    type: { ...text, enum: ['remove', 'replace', 'add'] },
    path: { ...list(text), description: 'Keys, and array indexes in decimal' },
    old: text,
    'old-kind': JSON_KINDS,
    new: text,
    'new-kind': JSON_KINDS,
  }),
  SDCVerification: object(['target', 'intact', 'length', 'head'], {
    target: reference,
    intact: { type: 'boolean' },
    length: { type: 'integer' },
    head: { ...text, description: 'Hash of the last addendum, in hex' },
    broken: object(['reason', 'message'], {
      sequence: { type: 'integer' },
      addendum: reference,
      reason: text,
      message: text,
    }),
  }),
  SDCSavedDocument: object(['document'], { document: schemaRef('SDCDocument') }),
  SDCSignedDocument: object(['document'], {
    document: schemaRef('SDCDocument'),
    exported: { type: 'object', additionalProperties: true },
  }),
  RpcError: object(['error'], {
    error: object(['message'], {
      message: text,
      type: { ...text, description: 'The code of the error, such as rpc-params-invalid (docs/reference/errors.md)' },
      errors: list(object(['path', 'message'], { path: list(text), message: text })),
    }),
  }),
};
