import eslint from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const bans = [
  {
    selector: 'ImportSpecifier[imported.name="forwardRef"]',
    message: 'A circle between modules is mended, not deferred.',
  },
  { selector: 'ExportAllDeclaration', message: 'No barrels: import the file that defines the name.' },
];
const environment = {
  selector: 'MemberExpression[object.name="process"][property.name="env"]',
  message: 'Only platform/config reads the environment.',
};
const clock = { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Inject Clock.' };

export default tseslint.config(
  { ignores: ['dist', 'data', 'coverage', 'node_modules', 'client'] },
  {
    files: ['**/*.ts'],
    ignores: ['console/**'],
    extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Settings and stand-ins are plain values of a declared class: structural typing is the language's own way.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A rule without a result is `ResourceRule<void>`, as the language writes it.
      '@typescript-eslint/no-invalid-void-type': [
        'error',
        { allowInGenericTypeArguments: true, allowAsThisParameter: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'no-restricted-syntax': ['error', ...bans, environment, clock],
    },
  },
  {
    files: [
      'src/platform/config/**',
      'src/platform/time/**',
      'test/**',
      'testing/**',
      'tools/**',
      'examples/**',
      '**/*.spec.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...bans] },
  },
  // Without types: those of the typed client are generated. `npm run types:console` checks them.
  {
    files: ['console/**/*.{ts,tsx}'],
    extends: [eslint.configs.recommended, tseslint.configs.strict, tseslint.configs.stylistic],
    plugins: { 'react-hooks': reactHooks },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'off',
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        ...bans,
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'What a server sends is text.' },
      ],
    },
  },
  // Callers choose texts of megabytes: a regular expression that takes quadratic time would hold up everybody.
  {
    files: ['src/**/*.ts', 'testing/**/*.ts', 'console/src/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  // What an answer holds is for the spec to say: `answer.json<Bundle>()`.
  { files: ['test/**', 'testing/**'], rules: { '@typescript-eslint/no-unnecessary-type-parameters': 'off' } },
  {
    files: ['**/*.cjs', '**/*.mjs'],
    extends: [eslint.configs.recommended],
    languageOptions: {
      globals: {
        require: 'readonly',
        module: 'writable',
        console: 'readonly',
        __dirname: 'readonly',
        process: 'readonly',
      },
    },
  },
);
