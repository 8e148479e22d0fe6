#!/usr/bin/env node
/** The tools for operators of a server built on the package: `npx svc-health-server migrate --help`. */
const TOOLS = ['after-restore', 'audit-addenda', 'load', 'migrate', 'reindex', 'rotate-keys'];

const [tool = ''] = process.argv.splice(2, 1);
if (TOOLS.includes(tool)) {
  void import(`./${tool}/${tool}.js`);
} else {
  const isHelp = tool === '--help';
  const output = isHelp ? process.stdout : process.stderr;
  output.write(`svc-health-server <tool> [--help]\nTools: ${TOOLS.join(', ')}\n`);
  process.exitCode = isHelp ? 0 : 2;
}
