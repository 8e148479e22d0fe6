const EXAMPLE_TOKEN = 'q3XbVgkZl0n2v7mJ1b9Jc4s8aQyq5m0XwqY6n1d2f3E';

const CREDENTIALS = { client_id: 'try-app', client_secret: 'try-app-secret' };

const string = (description: string): object => ({ type: 'string', description });

const PROPERTIES = {
  // The OpenAPI document lists the registered grant types here.
  grant_type: { type: 'string' },
  client_id: string('Unless it is in a Basic header'),
  client_secret: string('Needed where the Client requires it, and for client_credentials'),
  username: string('userName, email or id of a User; for password'),
  password: string('For password'),
  totp: string('The one-time code of a User with twoFactor.enabled; for password'),
  refresh_token: string('For refresh_token'),
  scope: string('Scope tokens that the Client lists, separated by spaces'),
  audience: string('One of the audiences of the Client, or the base URL'),
};

export const TOKEN_REQUEST = {
  required: true,
  schema: { type: 'object', required: ['grant_type'], properties: PROPERTIES },
  examples: {
    password: {
      summary: 'A password',
      value: { grant_type: 'password', ...CREDENTIALS, username: 'doc-1', password: 'a long password' },
    },
    client: { summary: 'The client itself', value: { grant_type: 'client_credentials', ...CREDENTIALS } },
  },
};

export const TOKEN_RESPONSE = {
  description: 'The tokens (RFC 6749, section 5.1), and the User unless the client acts for itself',
  schema: {
    type: 'object',
    required: ['token_type', 'expires_in', 'access_token'],
    properties: {
      token_type: { type: 'string', enum: ['Bearer'] },
      expires_in: { type: 'integer', description: 'Seconds' },
      access_token: string('Opaque, or a JWT (RFC 9068)'),
      refresh_token: string('Where the Client has them enabled'),
      scope: string('The granted scope'),
      userinfo: { type: 'object', description: 'The User without its secrets, with sub and role' },
    },
    example: {
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: EXAMPLE_TOKEN,
      refresh_token: 'Jm2c5s9yVb1Qe8xR4tL7kP0wZaN3uHfD6gTiOqSrCvY',
      userinfo: { resourceType: 'User', id: 'doc-1', sub: 'doc-1', email: 'doc-1@clinic.example' },
    },
  },
};

export const OAUTH_ERROR = {
  schema: {
    type: 'object',
    required: ['error', 'error_description'],
    properties: {
      error: { type: 'string' },
      error_description: { type: 'string' },
      error_uri: { type: 'string', format: 'uri', description: 'The page of the error; its fragment is the code' },
    },
    example: {
      error: 'invalid_grant',
      error_description: 'Wrong username or password',
      error_uri: 'http://localhost:3000/docs/reference/errors.html#credentials-wrong',
    },
  },
};

const tokenParameter = (example: object): { required: true; schema: object } => ({
  required: true,
  schema: {
    type: 'object',
    required: ['token'],
    properties: {
      token: string('An access token or a refresh token'),
      token_type_hint: string('Not needed: both kinds are looked for'),
      client_id: PROPERTIES.client_id,
      client_secret: string('Unless it is in a Basic header'),
    },
    example,
  },
});

/** The body of an introspection. It has no credentials, since the caller sends them in the header. */
export const INTROSPECT_REQUEST = tokenParameter({ token: EXAMPLE_TOKEN });

export const REVOKE_REQUEST = tokenParameter({ token: EXAMPLE_TOKEN, ...CREDENTIALS });
