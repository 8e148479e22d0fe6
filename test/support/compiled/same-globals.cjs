/**
 * Gives a spec file the globals that the compiled server checks with instanceof, and the Reflect that holds the metadata of its
 * decorators: jest's sandbox has others of the same names.
 */
const { runInThisContext } = require('node:vm');

for (const name of ['Date', 'Error', 'Map', 'Reflect', 'Set'])
  Object.defineProperty(globalThis, name, { value: runInThisContext(name), configurable: true, writable: true });

// Specs that read what the server logs replace `write` of its own streams.
const { stdout, stderr } = runInThisContext('process');
Object.defineProperties(process, { stdout: { value: stdout }, stderr: { value: stderr } });
