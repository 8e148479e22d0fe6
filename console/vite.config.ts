import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Relative: a proxy may serve the server below a path.
  base: './',
  resolve: { alias: { 'svc-health-client': pathOf('../client/src/index.ts') } },
  plugins: [react()],
  build: {
    outDir: process.env['SVC_CONSOLE_OUT'] ?? pathOf('../dist/console'),
    emptyOutDir: true,
    // The Content-Security-Policy lets no data: script or font in.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Of the packages in the scripts, whose licenses ask to be handed on.
    license: { fileName: 'licenses.md' },
    // light-dark() and native dialogs.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
  },
  // `npm run dev -w console` beside `npm run dev`.
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/auth', '/fhir', '/rpc', '/Session', '/health', '/metadata'].map((path) => [path, 'http://localhost:3000']),
    ),
  },
});
