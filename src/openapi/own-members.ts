import { type Schema } from './schema';

const MASKED = 'Shown as ***; sent back so, it is kept.';

/** The settings of a grant of a Client, which docs/reference/tokens.md explains. */
const GRANT: Readonly<Record<string, Schema>> = {
  token_format: { description: 'jwt; without it 256 random bits' },
  token_expiration: { description: 'Lifetime of an access token in seconds; 3600 when left out' },
  access_token_expiration: { description: 'Alias of token_expiration, which goes first' },
  refresh_token: { description: 'Whether refresh tokens are issued' },
  refresh_token_expiration: { description: 'Lifetime of a refresh token in seconds; none when left out' },
  audience: { description: 'aud of the tokens; a request may name one of them' },
};

/** Descriptions of members of this server's own types; their definitions hold none. */
export const OWN_MEMBERS: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  AccessPolicy: {
    engine: {
      type: 'string',
      description: 'allow, matcho, json-schema, complex, allow-rpc, matcho-rpc, or one of a module',
    },
    link: {
      type: 'array',
      items: { $ref: '#/components/schemas/NativeReference' },
      description:
        'Users, Clients or Operations: one must fit; without links and roleName each caller with credentials',
    },
    roleName: { type: 'string', description: 'Covers Users who hold a Role of this name' },
    type: { type: 'string', description: 'rest: all but RPC calls; rpc: RPC calls only; both when left out' },
    criteria: {
      type: 'array',
      items: { type: 'string' },
      description: 'Searches: the grant covers only resources that one of them finds',
    },
    description: { type: 'string', description: 'For people' },
  },
  Role: { name: { description: 'The roleName of the policies that cover the User' } },
  Client: {
    active: { description: 'false ends its Sessions, and refuses its requests' },
    secret: { description: MASKED },
    grant_types: { description: 'password, client_credentials, basic, or a grant of a module' },
    scope: { description: 'Scope tokens that a token request may ask for' },
  },
  'Client.auth.password': {
    ...GRANT,
    secret_required: { description: 'Whether the client must send its secret; a sent one is always checked' },
  },
  'Client.auth.client_credentials': GRANT,
  User: {
    userName: { description: 'A login name, of one User only' },
    email: { description: 'A login name if no other User has it' },
    password: { description: MASKED },
    inactive: { description: 'true ends the Sessions of the User, and refuses logins' },
    data: { description: 'Any content, which policies may read as user.data' },
  },
  'User.twoFactor': {
    enabled: { description: 'Whether a login needs a code of an authenticator app (RFC 6238)' },
    secretKey: { description: `In base32. ${MASKED}` },
  },
  Session: {
    type: { description: 'The grant that opened the Session' },
    start: { description: 'When the Session was opened' },
    end: { description: 'When the Session was closed' },
    active: { description: 'false closes the Session, and ends its tokens; a closed Session stays closed' },
    exp: { description: 'End of the access token, in seconds of the epoch' },
    refresh_token_exp: { description: 'End of the refresh token, in seconds of the epoch' },
    jti: { description: 'The jti of the JWT; for an opaque token an id that does not reveal the token' },
    iss: { description: 'The base URL of the server that issued the token' },
    audience: { description: 'aud of the token' },
    scope: { description: 'The granted scope; policies alone decide access' },
  },
  SDCDocument: {
    status: { type: 'string' },
    type: { type: 'string' },
    patient: { $ref: '#/components/schemas/NativeReference' },
    encounter: { $ref: '#/components/schemas/NativeReference' },
    author: { $ref: '#/components/schemas/NativeReference' },
  },
  SDCWorkflow: {
    status: { type: 'string' },
    workflow: { type: 'string' },
    patient: { $ref: '#/components/schemas/NativeReference' },
  },
  SvcSubscriptionTopic: {
    url: { description: 'The canonical that destinations name, as url or url|version' },
    status: { enum: ['draft', 'active', 'retired', 'unknown'], description: 'Only active fires' },
    trigger: { description: 'A write is an event when one of the triggers matches it' },
  },
  'SvcSubscriptionTopic.trigger': {
    resource: { description: 'A resource type, or the URL of its StructureDefinition' },
    supportedInteraction: {
      items: { type: 'string', enum: ['create', 'update', 'delete'] },
      description: 'All three when left out; a patch is an update',
    },
    fhirPathCriteria: {
      type: 'string',
      description: 'FHIRPath that must yield true, with %current and %previous; every write when left out',
    },
  },
  SvcTopicDestination: {
    kind: { example: 'webhook-at-least-once', description: 'meta.profile must name its profile' },
    topic: { description: 'The url of a SvcSubscriptionTopic; it may be stored later' },
    content: {
      enum: ['full-resource', 'id-only', 'empty'],
      description: 'The part of a changed resource to send: all of it (the default), its URL, or nothing',
    },
    includeEntryAction: { description: 'Adds create, update or delete to each entry, in an extension' },
    includeVersionId: { description: 'Adds the version to each entry, in an extension' },
    includeVersionIdInFocusReference: { description: 'Makes the focus Type/id/_history/version' },
    enableLogging: { description: 'Writes each attempt to the log of the server' },
    logLevel: { enum: ['error', 'warn', 'info', 'debug', 'trace'], description: 'info when left out' },
    parameter: {
      description:
        'endpoint (valueUrl, required), timeout (valueUnsignedInt, seconds, 30), keepAlive (valueInteger, seconds, 120; -1: none), maxMessagesInBatch (valueUnsignedInt, 20), header (valueString, "Name: value", repeats), secret (valueString, base64, signs as Standard Webhooks; twice while it changes). A secret is read as ***, and so are the values of headers by callers who may not update the destination.',
    },
  },
};
