/** Stops the services that `globalSetup` started. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.endTestRun?.();
}
