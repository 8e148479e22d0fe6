/**
 * Code of a hash thread: one task at a time, one response each (hash-threads.ts). Plain JavaScript, because a thread
 * starts from a file, both in the build and under jest.
 */
const { scryptSync, timingSafeEqual } = require('node:crypto');
const { setPriority } = require('node:os');
const { parentPort } = require('node:worker_threads');
const { hashSync, verifySync } = require('@node-rs/argon2');

// On Linux each thread has its own nice value (setpriority(2)), so requests get the CPU before hashes. On other systems
// the value would slow down the whole process.
if (process.platform === 'linux') setPriority(10);

const TASKS = {
  hash: ({ password, parameters }) => hashSync(password, parameters),
  argon2id: ({ password, stored }) => verifySync(stored, password),
  scrypt: ({ password, salt, key, cost: N, blockSize: r, parallelism: p }) =>
    timingSafeEqual(scryptSync(password, salt, key.length, { N, r, p, maxmem: 256 * N * r }), key),
};

parentPort.on('message', (task) => {
  try {
    parentPort.postMessage({ result: TASKS[task.kind](task) });
  } catch (error) {
    parentPort.postMessage({ failure: error.message });
  }
});
