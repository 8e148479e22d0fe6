import { type Received, type TestApp } from '../../testing/test-app';
import { type Person } from '../../testing/world';

/**
 * Sends requests as a person. App and person are looked up at each call, since specs create them later than this
 * function.
 */
export const sendingAs =
  (who: () => readonly [app: TestApp, person: Person]) =>
  (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Received> => {
    const [app, { bearer: authorization }] = who();
    return app.send(method, path, { authorization, headers, ...(body === undefined ? {} : { body }) });
  };
