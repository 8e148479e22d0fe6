/**
 * The test kit of the package, for specs of modules of your own (docs/how-to/extend.md). The server's own specs use it
 * too.
 */
export { eventually } from './eventually';
export { startTestDatabase } from './test-databases';
export { basicHeader, BASE_URL, ROOT, startTestApp, type TestApp, type TestAppOptions } from './test-app';
export { type AppSettings } from './app-on-database';
export { type Received, type Sent } from './http-client';
export { type Person, type PersonOptions, type World, world } from './world';
export { type Behavior, type NotificationBody, type ReceivedRequest, WebhookReceiver } from './webhook-receiver';
