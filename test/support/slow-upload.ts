import { type TestApp } from '../../testing/test-app';

/** Stores a Patient by a large body, whose end is sent after `change`. Returns the status. */
export async function uploadAround(app: TestApp, authorization: string, change: () => Promise<void>): Promise<number> {
  async function* body(): AsyncGenerator<string> {
    // More than the buffers of a connection have: so the server reads the body, after it checked the credentials.
    for (let sent = 0; sent < 12; sent++) yield ' '.repeat(2 ** 20);
    await change();
    yield JSON.stringify({ resourceType: 'Patient', id: 'uploaded' });
  }
  const { status } = await fetch(`${app.url}/fhir/Patient/uploaded`, {
    ...{ method: 'PUT', duplex: 'half', body: ReadableStream.from(body()).pipeThrough(new TextEncoderStream()) },
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
  });
  return status;
}
