import { type HistoryPosition } from '../../store/history-statements';
import { type DryRunResult, type UnmetPart, type VersionVerdict } from './dry-run-result';

/**
 * Counts the results for versions. It keeps only the versions to list, since 20,000 versions with their texts would
 * fill the memory.
 */
export class DryRunTally {
  examined = 0;
  private readonly matchedAt: Date[] = [];
  private readonly unmet = new Map<string, UnmetPart>();
  private listed: VersionVerdict[] = [];
  private undecided = 0;

  /**
   * @param fires if present, only versions that fire (true) or do not fire (false) are listed, and of these the newest
   */
  constructor(
    private readonly count: number,
    private readonly fires: boolean | undefined,
  ) {}

  add(verdict: VersionVerdict): void {
    const { version, triggers } = verdict;
    const fires = triggers.some(({ decision }) => decision !== false);
    this.examined += 1;
    if (fires) this.matchedAt.push(version.updatedAt);
    else this.addUnmet(verdict);
    if (fires && !triggers.some(({ decision }) => decision === true)) this.undecided += 1;
    if (this.count === 0 || (this.fires !== undefined && this.fires !== fires)) return;
    this.listed.push(verdict);
    if (this.listed.length > this.count) this.listed.shift();
  }

  result(next: HistoryPosition | undefined): DryRunResult {
    return {
      listed: this.listed,
      unmet: [...this.unmet.values()].sort((one, other) => other.versions - one.versions),
      examined: this.examined,
      matchedAt: this.matchedAt,
      undecided: this.undecided,
      ...(next === undefined ? {} : { next }),
    };
  }

  private addUnmet({ triggers }: VersionVerdict): void {
    for (const { index, reason } of triggers) {
      if (reason === undefined) continue;
      const key = `${index} ${reason.part} ${reason.text}`;
      this.unmet.set(key, { index, reason, versions: (this.unmet.get(key)?.versions ?? 0) + 1 });
    }
  }
}
