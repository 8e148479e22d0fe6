import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { outcomeOfIssues } from '../fhir/edge/operation-outcome';
import { type ErrorIssue } from '../platform/errors/service-error';

const ALL_OK: ErrorIssue = { severity: 'information', code: 'informational', diagnostics: 'All OK', expression: '' };

/**
 * The answer of `$validate`. Its status is 200 for any result, since issues are the answer and no failure of the
 * request.
 */
export function validationAnswer(issues: readonly ErrorIssue[]): FhirAnswer {
  const listed = issues.length === 0 ? [ALL_OK] : issues;
  const errors = issues.filter(({ severity }) => severity === 'error').length;
  const summary = issues.length === 0 ? 'All OK' : `${errors} errors, ${issues.length - errors} warnings`;
  return { status: 200, text: JSON.stringify(outcomeOfIssues('validation', summary, listed)) };
}
