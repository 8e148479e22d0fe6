/**
 * The test kit of the package, for specs of your own modules (docs/how-to/extend.md). The specs of the server itself
 * use it too.
 */
export { eventually } from './eventually';
export { startTestDatabase } from './test-databases';
export { basicHeader, BASE_URL, ROOT, startTestApp, type TestApp, type TestAppOptions } from './test-app';
export { type AppSettings } from './app-on-database';
export { type Received, type Sent } from './http-client';
export { type Person, type PersonOptions, type World, world } from './world';
export { type Behavior, type NotificationBody, type ReceivedRequest, WebhookReceiver } from './webhook-receiver';
