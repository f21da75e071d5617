import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server to which `npm run dev` hands on what belongs to the API.
const api = process.env.ERPILOT_URL ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react()],
  // A data: URL is no own origin; every asset is a file.
  build: { assetsInlineLimit: 0, target: "es2022", modulePreload: { polyfill: false }, chunkSizeWarningLimit: 700 },
  server: { proxy: { "/api": api } },
  // No test fails because the machine is slow.
  test: { include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"], testTimeout: 120_000, hookTimeout: 120_000 },
});
