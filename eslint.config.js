import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['dist/', 'pkg/', 'target/', 'www/dist/', 'tests/out/', 'tests/data/'] },
  js.configs.recommended,
  {
    files: ['**/*.{js,mjs,jsx}'],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: 'module',
      globals: globals['shared-node-browser'],
      parserOptions: { ecmaFeatures: { jsx: true } },
    },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'object-shorthand': 'error',
    },
  },
  { files: ['scripts/**', 'bench/**', 'tests/**', 'js/entry/node.js', 'js/entry/cli.js', 'eslint.config.js'], languageOptions: { globals: globals.node } },
  { files: ['www/**', 'js/entry/default.js', 'js/worker/**', 'js/cache/**', 'bench/**', 'tests/wasm/**', 'tests/long/**'], languageOptions: { globals: globals.browser } },
];
