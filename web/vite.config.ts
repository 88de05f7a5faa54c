import { defineConfig } from 'vite'

// The program serves the page at / and all other files below /console/.
export default defineConfig({
  base: '/console/',
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy allows no styles or scripts inside it
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 250,
  },
  // For work on the console: npm run dev beside a program on 127.0.0.1:8080.
  server: { proxy: Object.fromEntries(['/v1', '/tandem', '/api', '/console/session', '/metrics']
    .map((path) => [path, { target: 'http://127.0.0.1:8080', changeOrigin: true }])) },
})
