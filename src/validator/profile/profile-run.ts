import { type IssueCode, type ValidationRun } from '../r4/validation-run';

/** A run of one profile, whose URL begins each of its issues. */
export class ProfileRun {
  constructor(
    readonly run: ValidationRun,
    private readonly url: string,
  ) {}

  report(code: IssueCode, fault: string): void {
    this.run.report(code, `${this.url}: ${fault}`);
  }

  /** Reports a rule that cannot be checked. */
  warn(reason: string): void {
    this.run.warn(`${this.url}: ${reason}`);
  }
}
