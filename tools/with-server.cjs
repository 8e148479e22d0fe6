// Starts the built server on a temporary database, for tools that read its OpenAPI document.
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/**
 * Calls `work` with the address of a server, then stops the server and deletes its database.
 * @param environment settings of the server in addition to the usual ones
 */
async function withServer(environment, work) {
  const { createServer } = require('../dist/src/index.js');
  const folder = mkdtempSync(join(tmpdir(), 'svc-tool-'));
  const usual = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data'), SVC_LOG_LEVEL: 'error' };
  try {
    const server = await createServer({ environment: { ...usual, ...environment } });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { withServer };
