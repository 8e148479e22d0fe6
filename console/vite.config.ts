import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Relative, since a proxy may serve the server below a path.
  base: './',
  resolve: { alias: { 'svc-health-client': pathOf('../client/src/index.ts') } },
  plugins: [react()],
  build: {
    outDir: process.env['SVC_CONSOLE_OUT'] ?? pathOf('../dist/console'),
    emptyOutDir: true,
    // The Content-Security-Policy allows no scripts and fonts from data: URLs, so none are inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Writes the licenses of the packages in the scripts to a file, since these licenses must be distributed too.
    license: { fileName: 'licenses.md' },
    // The first versions with light-dark() and native dialogs.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
  },
  // For `npm run dev -w console`, which sends API requests to the server of `npm run dev`.
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/auth', '/fhir', '/rpc', '/Session', '/health', '/metadata'].map((path) => [path, 'http://localhost:3000']),
    ),
  },
});
