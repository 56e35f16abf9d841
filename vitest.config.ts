import { defineConfig } from 'vitest/config'

/**
 * Two projects: what may run side by side, and what must run alone because it kills engines or
 * processes, or watches the machine.
 */
export default defineConfig({
  // Apollo and our own modules must meet one copy of graphql: the package's ES entry is not the
  // file that Apollo's require finds.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ['test/fault/**', 'test/crash/**', 'test/tidy.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/tidy.test.ts', 'test/fault/**/*.test.ts', 'test/crash/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
