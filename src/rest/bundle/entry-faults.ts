import { FHIR_ERRORS } from '../../fhir/edge/operation-outcome';
import { isTransactionConflict } from '../../platform/database/database-error';
import { type KindedCode } from '../../platform/errors/error-codes';
import { type ErrorIssue, errorCodeOf, ServiceError } from '../../platform/errors/service-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';

/** A fault of one entry. Its message, issues and expressions begin with the entry, so that the caller finds it. */
export class EntryRefusal extends ServiceError {
  constructor(
    readonly index: number,
    { kind, message, details }: ServiceError,
    options?: ErrorOptions,
  ) {
    const entry = `Bundle.entry[${index}]`;
    const issues = details.issues?.map((issue) => ({
      ...issue,
      diagnostics: `${entry}: ${issue.diagnostics}`,
      expression: placeOf(entry, issue.expression),
    }));
    const placed = { ...details, expression: placeOf(entry, details.expression) };
    super(kind, `${entry}: ${message}`, issues === undefined ? placed : { ...placed, issues }, options);
  }
}

/**
 * Makes the refusal of an entry from the error of its work. Unexpected errors, and conflicts after which the
 * transaction starts over, are returned unchanged.
 */
export function entryError(error: unknown, index: number): unknown {
  if (isTransactionConflict(error) || error instanceof EntryRefusal) return error;
  const known = serviceErrorOf(error);
  return known === undefined ? error : new EntryRefusal(index, known, { cause: error });
}

/**
 * The expression of a fault in a Bundle. An expression of a resource begins with its type, so `Patient.name` becomes
 * `Bundle.entry[1].resource.name`.
 */
function placeOf(entry: string, expression = ''): string {
  if (expression === '') return entry;
  if (/^(request|resource|fullUrl)(\.|$)/.test(expression)) return `${entry}.${expression}`;
  const within = expression.replace(/^[A-Z][A-Za-z]*(\.|$)/, '');
  return within === '' ? `${entry}.resource` : `${entry}.resource.${within}`;
}

/** Runs the work for one entry, so that an error names the entry. */
export async function atEntry<T>(index: number, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw entryError(error, index);
  }
}

/** @param expression of the member at fault, relative to the entry or to the Bundle */
export const faultAt = (expression: string, message: string, code: KindedCode = 'bundle-entry-invalid'): ServiceError =>
  new ServiceError(code, message, { expression });

/** Maximum number of issues in one answer. People do not fix more at once. */
const MAX_ISSUES = 100;

/** Collects the faults of a transaction's entries, so that the caller can fix all of them at once. */
export class EntryFaults {
  private first: EntryRefusal | undefined;
  private readonly faulty = new Set<number>();
  private readonly reported: { readonly index: number; readonly issues: readonly ErrorIssue[] }[] = [];
  private reportedIssues = 0;
  private omittedIssues = 0;
  private omittedEntries = 0;

  /** @param isFirstEnough whether the first fault is thrown at once, for a caller that does not report all faults */
  constructor(private readonly isFirstEnough = false) {}

  get areAny(): boolean {
    return this.first !== undefined;
  }

  has(index: number): boolean {
    return this.faulty.has(index);
  }

  /**
   * Runs the work for one entry; undefined if the entry is refused.
   * @throws unexpected errors, and a timeout
   */
  async at<T>(index: number, work: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.add(error, index);
      return undefined;
    }
  }

  /** Like {@link at}, for work that is not asynchronous. */
  atSync<T>(index: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.add(error, index);
      return undefined;
    }
  }

  /** @throws ServiceError of the kind found first, with the issues of all entries in order, if there are faults */
  throwIfAny(): void {
    if (this.first === undefined) return;
    if (this.faulty.size === 1) throw this.first;
    const { kind, message, details } = this.first;
    const issues = this.reported.sort((a, b) => a.index - b.index).flatMap((one) => one.issues);
    const others = this.faulty.size - 1;
    throw new ServiceError(
      kind,
      `${message} ${others} more ${others === 1 ? 'entry is' : 'entries are'} refused: see the issues.`,
      { ...details, issues: this.omittedIssues === 0 ? issues : [...issues, this.omission()] },
      { cause: this.first },
    );
  }

  private add(error: unknown, index: number): void {
    const refusal = entryError(error, index);
    if (!(refusal instanceof EntryRefusal) || this.isFirstEnough) throw refusal;
    // The canceled statement has ended the transaction, so no more faults can be found.
    if (refusal.kind === 'timeout') throw refusal;
    this.first ??= refusal;
    this.faulty.add(refusal.index);
    const issues = issuesOf(refusal);
    const shown = issues.slice(0, MAX_ISSUES - this.reportedIssues);
    this.reportedIssues += shown.length;
    this.omittedIssues += issues.length - shown.length;
    if (shown.length > 0) this.reported.push({ index: refusal.index, issues: shown });
    else this.omittedEntries += 1;
  }

  private omission(): ErrorIssue {
    const entries = this.omittedEntries === 0 ? '' : `, all those of ${this.omittedEntries} entries among them`;
    return {
      severity: 'information',
      code: 'informational',
      diagnostics: `${this.omittedIssues} more faults are left out${entries}. Mend these and send the Bundle again.`,
      expression: '',
    };
  }
}

function issuesOf(refusal: EntryRefusal): readonly ErrorIssue[] {
  const { kind, message, details } = refusal;
  const errorCode = errorCodeOf(refusal);
  const { issues, expression = '' } = details;
  return (
    issues?.map((issue) => (issue.severity === 'error' ? { errorCode, ...issue } : issue)) ?? [
      { severity: 'error', code: FHIR_ERRORS[kind].issue, errorCode, diagnostics: message, expression },
    ]
  );
}
